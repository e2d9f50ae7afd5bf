#include "mini_upnp.h"

#include <miniupnpc/miniupnpc.h>
#include <miniupnpc/upnpcommands.h>
#include <optional_library.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// UPNP_GetValidIGD is not among them: its parameters changed after version 17. These and their structures did not.
#define EACH_FUNCTION(X) \
    X(upnpDiscoverDevices) \
    X(freeUPNPDevlist) \
    X(UPNP_GetIGDFromUrl) \
    X(FreeUPNPUrls) \
    X(UPNP_GetExternalIPAddress) \
    X(UPNP_AddPortMapping) \
    X(UPNP_AddAnyPortMapping) \
    X(UPNP_DeletePortMapping)

#define POINTER(name) static __typeof__(&name) name##_of_library;
EACH_FUNCTION(POINTER)

#define ENTRY(name) {#name, (void **)&name##_of_library},
static const optional_function functions[] = {EACH_FUNCTION(ENTRY)};

static optional_library library = {
    .file = "libminiupnpc.so.17",
    .package = "libminiupnpc17",
    .functions = functions,
    .count = sizeof functions / sizeof *functions,
};

static void find(void) {
    if (!optional_library_find(&library)) return;
    for (int version = 18; version <= 21; version++) {
        char file[32];
        snprintf(file, sizeof file, "libminiupnpc.so.%d", version);
        optional_library newer = library;
        newer.file = file;
        if (optional_library_find(&newer)) continue;
        library.problem = NULL;
        return;
    }
}

const char *mini_upnp_library_problem(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return library.problem;
}

struct mini_upnp_router {
    struct UPNPUrls urls;
    struct IGDdatas data;
    char local[64];
};

// Anyone on the network can answer: only the router that forwards packets is asked.
static int is_at(const char *url, const char *gateway) {
    static const char scheme[] = "http://";
    size_t length = strlen(gateway);
    if (strncmp(url, scheme, sizeof scheme - 1)) return 0;
    url += sizeof scheme - 1;
    return !strncmp(url, gateway, length) && (url[length] == ':' || url[length] == '/');
}

mini_upnp_router *mini_upnp_find(const char *gateway, const char *local, int32_t milliseconds) {
    static const char *const types[] = {
        "urn:schemas-upnp-org:device:InternetGatewayDevice:2",
        "urn:schemas-upnp-org:device:InternetGatewayDevice:1",
        "urn:schemas-upnp-org:service:WANIPConnection:1",
        "urn:schemas-upnp-org:service:WANPPPConnection:1",
        NULL,
    };
    mini_upnp_router *router = calloc(1, sizeof *router);
    if (!router) return NULL;
    snprintf(router->local, sizeof router->local, "%s", local);
    // A device answers once for each of the types, usually with the same URL. Each URL that is tried takes time.
    const char *tried[4] = {NULL};
    int error = 0, found = 0, count = 0;
    struct UPNPDev *devices = upnpDiscoverDevices_of_library(types, milliseconds, local, NULL, 0, 0, 2, &error, 1);
    for (struct UPNPDev *device = devices; device && !found; device = device->pNext) {
        char own[64] = "";
        if (!is_at(device->descURL, gateway)) continue;
        int known = 0;
        for (int index = 0; index < count; index++) known |= !strcmp(tried[index], device->descURL);
        if (known) continue;
        if (count == sizeof tried / sizeof *tried) break;
        tried[count++] = device->descURL;
        if (UPNP_GetIGDFromUrl_of_library(device->descURL, &router->urls, &router->data, own, sizeof own) != 1) continue;
        found = router->urls.controlURL && is_at(router->urls.controlURL, gateway) && router->data.first.servicetype[0];
        if (!found) FreeUPNPUrls_of_library(&router->urls);
    }
    if (devices) freeUPNPDevlist_of_library(devices);
    if (found) return router;
    free(router);
    return NULL;
}

void mini_upnp_free(mini_upnp_router *router) {
    FreeUPNPUrls_of_library(&router->urls);
    free(router);
}

int32_t mini_upnp_outside_address(mini_upnp_router *router, char address[64]) {
    memset(address, 0, 64);
    return UPNP_GetExternalIPAddress_of_library(router->urls.controlURL, router->data.first.servicetype, address);
}

// Whether the service chooses a free port itself.
static int chooses_ports(const mini_upnp_router *router) {
    const char *version = strrchr(router->data.first.servicetype, ':');
    return version && atoi(version + 1) >= 2;
}

int32_t mini_upnp_map(
    mini_upnp_router *router, const char *protocol, uint16_t inside, uint32_t lifetime, uint16_t *outside) {
    char inside_port[8], outside_port[8], seconds[16], reserved[8] = "";
    snprintf(inside_port, sizeof inside_port, "%u", inside);
    snprintf(outside_port, sizeof outside_port, "%u", *outside);
    snprintf(seconds, sizeof seconds, "%u", lifetime);
    const char *url = router->urls.controlURL, *type = router->data.first.servicetype;
    if (chooses_ports(router)) {
        int result = UPNP_AddAnyPortMapping_of_library(
            url, type, outside_port, inside_port, router->local, "rtcshare", protocol, NULL, seconds, reserved);
        unsigned long port = result ? 0 : strtoul(reserved, NULL, 10);
        if (!result && (port == 0 || port > UINT16_MAX)) return UPNPCOMMAND_INVALID_RESPONSE;
        if (!result) *outside = (uint16_t)port;
        // 401: the router lacks this action in spite of its version. 728 also stands for ports that the router forbids,
        // for which the other action has an error code.
        if (result != 401 && result != 728) return result;
    }
    return UPNP_AddPortMapping_of_library(
        url, type, outside_port, inside_port, router->local, "rtcshare", protocol, NULL, seconds);
}

int32_t mini_upnp_unmap(mini_upnp_router *router, const char *protocol, uint16_t outside) {
    char port[8];
    snprintf(port, sizeof port, "%u", outside);
    return UPNP_DeletePortMapping_of_library(
        router->urls.controlURL, router->data.first.servicetype, port, protocol, NULL);
}
