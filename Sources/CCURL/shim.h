#pragma once
#include <curl/curl.h>

// libcurl's options are variadic, which does not reach Swift.

typedef size_t (*ccurl_write)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_progress)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_body(CURL *handle, const void *bytes, curl_off_t size) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, size);
    return code ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

static inline CURLcode ccurl_set_write(CURL *handle, ccurl_write body, ccurl_write header, void *context) {
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    return curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
}

static inline CURLcode ccurl_set_progress(CURL *handle, ccurl_progress progress, void *context) {
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    return curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
}

typedef curl_socket_t (*ccurl_open_socket)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode ccurl_set_open_socket(CURL *handle, ccurl_open_socket open, void *context) {
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
}

typedef int (*ccurl_connected)(void *context, char *address, char *local_address, int port, int local_port);

// `connected` is called before anything is sent over a connection.
static inline CURLcode ccurl_set_connected(CURL *handle, ccurl_connected connected, void *context) {
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, connected);
    return curl_easy_setopt(handle, CURLOPT_PREREQDATA, context);
}

// The address that was connected to, empty where there was none.
static inline const char *ccurl_address(CURL *handle) {
    char *address = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIMARY_IP, &address);
    return address ? address : "";
}

// How long the look-up of the server's name took; zero where it has not ended.
static inline double ccurl_look_up_seconds(CURL *handle) {
    double seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_NAMELOOKUP_TIME, &seconds);
    return seconds;
}

// The time until the TCP connection was there; zero where it never was.
static inline double ccurl_connect_seconds(CURL *handle) {
    double seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_CONNECT_TIME, &seconds);
    return seconds;
}

// errno of the last attempt to connect that failed; zero where none did.
static inline long ccurl_errno(CURL *handle) {
    long number = 0;
    curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
    return number;
}

static inline long ccurl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
