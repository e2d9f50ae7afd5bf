#pragma once
#include <stdint.h>

// Port mappings of a router by UPnP IGD, through libminiupnpc. All calls block for up to some seconds.

// Null if libminiupnpc is loaded and can be used, otherwise the reason why it can't.
const char *_Nullable mini_upnp_library_problem(void);

// A router's service for port mappings. One thread at a time.
typedef struct mini_upnp_router mini_upnp_router;

// Looks for the router with the address `gateway` from the address `local`, for `milliseconds` after its last answer.
// That can take as long as somebody on the network repeats an answer. Devices with other addresses are ignored. The
// library must be loaded. Returns null if there is none.
mini_upnp_router *_Nullable mini_upnp_find(const char *_Nonnull gateway, const char *_Nonnull local, int32_t milliseconds);
void mini_upnp_free(mini_upnp_router *_Nonnull router);

// The results of the following functions: 0, a positive error code of the router, or a negative one of the library.

// Writes the router's outside address, as text.
int32_t mini_upnp_outside_address(mini_upnp_router *_Nonnull router, char address[_Nonnull 64]);
// Maps an outside port, another one than `*outside` if need be, to a port of `local`. `protocol` is "TCP" or "UDP". A
// lifetime of 0 seconds has no end.
int32_t mini_upnp_map(
    mini_upnp_router *_Nonnull router, const char *_Nonnull protocol, uint16_t inside, uint32_t lifetime,
    uint16_t *_Nonnull outside);
int32_t mini_upnp_unmap(mini_upnp_router *_Nonnull router, const char *_Nonnull protocol, uint16_t outside);
