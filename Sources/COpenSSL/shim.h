#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// What OpenSSL gives as a macro or with a variable argument list, as functions.

static inline EVP_PKEY *copenssl_generate_p256(void) { return EVP_EC_gen("P-256"); }

static inline long copenssl_ctx_set_dtls12_only(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1
        && SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1;
}

static inline void copenssl_ctx_set_webrtc_options(SSL_CTX *context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
            | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

static inline long copenssl_ctx_set_session_cache_off(SSL_CTX *context) {
    return SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline long copenssl_ctx_set_groups(SSL_CTX *context, const char *groups) {
    return SSL_CTX_set1_groups_list(context, groups);
}

static inline long copenssl_set_mtu(SSL *ssl, long mtu) { return SSL_set_mtu(ssl, mtu); }

static inline long copenssl_handle_timeout(SSL *ssl) { return DTLSv1_handle_timeout(ssl); }

static inline void copenssl_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

static inline void copenssl_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
