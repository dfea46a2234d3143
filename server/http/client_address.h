// Whose request it is, for what is counted by address: of IPv6 one network of 64 bits, which is what one client is
// given.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sockaddr;

enum { CLIENT_ADDRESS_BYTES = 16 };

struct client_address {
    uint8_t bytes[CLIENT_ADDRESS_BYTES];  // IPv4 as IPv6 has it; zeros: a socket file
};

struct client_address client_address_of(const struct sockaddr *peer);

bool client_address_is_same(const struct client_address *a, const struct client_address *b);
uint32_t client_address_hash(const struct client_address *address);

// What the nearest proxy wrote as the last word of X-Forwarded-For: those before it anybody can write. False: it is
// none.
bool client_address_forwarded(const char *header, struct client_address *address);
