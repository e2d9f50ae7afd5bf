#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

// What OpenSSL gives as a macro or with a variable argument list, as functions.

static inline EVP_PKEY *copenssl_generate_p256(void) { return EVP_EC_gen("P-256"); }

static inline long copenssl_ctx_set_dtls12_only(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1
        && SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1;
}

// Without encrypt-then-MAC: where that was agreed on, OpenSSL ends DTLS at the first record whose MAC is wrong, which
// anybody can write; others it drops.
static inline void copenssl_ctx_set_webrtc_options(SSL_CTX *context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
            | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_ENCRYPT_THEN_MAC);
}

static inline long copenssl_ctx_set_session_cache_off(SSL_CTX *context) {
    return SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline long copenssl_ctx_set_groups(SSL_CTX *context, const char *groups) {
    return SSL_CTX_set1_groups_list(context, groups);
}

// The pseudorandom function of TLS 1.2 (RFC 5246 section 5); 1 where it worked.
static inline int copenssl_tls12_prf(
    const char *digest, unsigned char *secret, size_t secret_count, const char *label, unsigned char *seed,
    size_t seed_count, unsigned char *output, size_t output_count) {
    EVP_KDF *function = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(function);
    EVP_KDF_free(function);
    if (context == NULL) return 0;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, secret, secret_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, (void *)label, strlen(label)),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed, seed_count),
        OSSL_PARAM_construct_end(),
    };
    int result = EVP_KDF_derive(context, output, output_count, parameters);
    EVP_KDF_CTX_free(context);
    return result;
}

static inline long copenssl_set_mtu(SSL *ssl, long mtu) { return SSL_set_mtu(ssl, mtu); }

static inline void copenssl_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

static inline void copenssl_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

static inline long copenssl_ctx_set_tls12_or_later(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// An idle connection keeps no buffers: relays and pages have one for long.
static inline void copenssl_ctx_set_stream_options(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

// The name that the client asks for (RFC 6066 section 3).
static inline long copenssl_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}
