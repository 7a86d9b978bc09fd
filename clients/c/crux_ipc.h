/*
 * A client of the kernel IPC of Crux in one file, for C99 and POSIX, with nothing besides. Include it in one source file:
 *
 *     crux_client kernel;
 *     crux_view result;
 *     if (crux_open(&kernel, NULL) == CRUX_OK && crux_call(&kernel, "system.get_metrics", NULL, &result) == CRUX_OK)
 *         printf("%lld\n", crux_int(crux_get(result, "uptimeMs")));
 *
 * Messages are written with crux_put_... and read in place: a crux_view is a value within the bytes that came, and is valid
 * until the next call of the function that gave it.
 */
#ifndef CRUX_IPC_H
#define CRUX_IPC_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CRUX_OK = 0, CRUX_REFUSED = 1, CRUX_BROKEN = -1 };
enum { CRUX_REQUEST = 1, CRUX_RESPONSE = 2, CRUX_EVENT = 3, CRUX_CHUNK = 4 };
enum { CRUX_MAX_PAYLOAD = 10485760, CRUX_MAX_DEPTH = 64 };

/* ---- what is sent ---- */

/* Start with {0}; free the bytes with crux_drop. `failed`: no memory, or more than a frame holds. */
typedef struct {
    uint8_t *data;
    size_t length, room;
    int failed;
} crux_buffer;

static inline void crux_drop(crux_buffer *to) {
    free(to->data);
    memset(to, 0, sizeof *to);
}

static inline void crux_put(crux_buffer *to, const void *bytes, size_t count) {
    if (to->failed || count > CRUX_MAX_PAYLOAD - to->length) {
        to->failed = 1;
        return;
    }
    if (to->length + count > to->room) {
        size_t room = 2 * (to->length + count) + 64;
        uint8_t *grown = realloc(to->data, room);
        if (grown == NULL) {
            to->failed = 1;
            return;
        }
        to->data = grown;
        to->room = room;
    }
    if (count > 0) memcpy(to->data + to->length, bytes, count);
    to->length += count;
}

/* A type and a number of `bytes` bytes, the highest first. */
static inline void crux_put_head(crux_buffer *to, uint8_t type, uint64_t number, int bytes) {
    uint8_t head[9];
    head[0] = type;
    for (int at = 0; at < bytes; at++) head[1 + at] = (uint8_t)(number >> (8 * (bytes - 1 - at)));
    crux_put(to, head, 1 + (size_t)bytes);
}

static inline void crux_put_nil(crux_buffer *to) { crux_put_head(to, 0xc0, 0, 0); }
static inline void crux_put_bool(crux_buffer *to, int value) { crux_put_head(to, value ? 0xc3 : 0xc2, 0, 0); }
static inline void crux_put_int(crux_buffer *to, int64_t value) {
    crux_put_head(to, value < 0 ? 0xd3 : 0xcf, (uint64_t)value, 8);
}
static inline void crux_put_double(crux_buffer *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    crux_put_head(to, 0xcb, bits, 8);
}
static inline void crux_put_text(crux_buffer *to, const char *text) {
    crux_put_head(to, 0xdb, strlen(text), 4);
    crux_put(to, text, strlen(text));
}
static inline void crux_put_bytes(crux_buffer *to, const void *bytes, size_t count) {
    crux_put_head(to, 0xc6, count, 4);
    crux_put(to, bytes, count);
}
/* So many values follow. */
static inline void crux_put_array(crux_buffer *to, uint32_t count) { crux_put_head(to, 0xdd, count, 4); }
/* So many pairs follow, each a text and a value. */
static inline void crux_put_map(crux_buffer *to, uint32_t count) { crux_put_head(to, 0xdf, count, 4); }

/* ---- what has come ---- */

/* A value: `at` is NULL if there is none. */
typedef struct {
    const uint8_t *at, *end;
} crux_view;

static const crux_view CRUX_NONE = {NULL, NULL};

/* The head of a value: `size` is the number of bytes, entries or pairs, or the value of a number itself. */
typedef struct {
    enum { CRUX_BAD, CRUX_NIL, CRUX_BOOL, CRUX_INT, CRUX_DOUBLE, CRUX_TEXT, CRUX_BYTES, CRUX_ARRAY, CRUX_MAP } kind;
    uint64_t size;
    const uint8_t *body;
} crux_head;

static inline crux_head crux_head_of(crux_view value) {
    crux_head head = {CRUX_BAD, 0, NULL};
    if (value.at == NULL || value.at >= value.end) return head;
    const uint8_t type = *value.at;
    int bytes = 0;
    if (type <= 0x7f) head.kind = CRUX_INT, head.size = type;
    else if (type <= 0x8f) head.kind = CRUX_MAP, head.size = type & 0x0f;
    else if (type <= 0x9f) head.kind = CRUX_ARRAY, head.size = type & 0x0f;
    else if (type <= 0xbf) head.kind = CRUX_TEXT, head.size = type & 0x1f;
    else if (type >= 0xe0) head.kind = CRUX_INT, head.size = (uint64_t)(int64_t)(int8_t)type;
    else if (type == 0xc0) head.kind = CRUX_NIL;
    else if (type == 0xc2 || type == 0xc3) head.kind = CRUX_BOOL, head.size = type & 1;
    else if (type >= 0xc4 && type <= 0xc6) head.kind = CRUX_BYTES, bytes = 1 << (type - 0xc4);
    else if (type == 0xca || type == 0xcb) head.kind = CRUX_DOUBLE, bytes = type == 0xca ? 4 : 8;
    else if (type >= 0xcc && type <= 0xcf) head.kind = CRUX_INT, bytes = 1 << (type - 0xcc);
    else if (type >= 0xd0 && type <= 0xd3) head.kind = CRUX_INT, bytes = 1 << (type - 0xd0);
    else if (type >= 0xd9 && type <= 0xdb) head.kind = CRUX_TEXT, bytes = 1 << (type - 0xd9);
    else if (type >= 0xdc) head.kind = type <= 0xdd ? CRUX_ARRAY : CRUX_MAP, bytes = type & 1 ? 4 : 2;
    head.body = value.at + 1;
    if (value.end - head.body < bytes) head.kind = CRUX_BAD;
    if (head.kind == CRUX_BAD || bytes == 0) return head;
    for (int at = 0; at < bytes; at++) head.size = head.size << 8 | *head.body++;
    if (type >= 0xd0 && type <= 0xd2 && head.size >> (8 * bytes - 1)) head.size |= ~(uint64_t)0 << (8 * bytes);
    return head;
}

/* The position after a value; NULL if it is cut off or nested too deeply. */
static inline const uint8_t *crux_after(crux_view value, int depth) {
    const crux_head head = crux_head_of(value);
    if (head.kind == CRUX_BAD || depth > CRUX_MAX_DEPTH) return NULL;
    if (head.kind == CRUX_TEXT || head.kind == CRUX_BYTES)
        return (uint64_t)(value.end - head.body) < head.size ? NULL : head.body + head.size;
    uint64_t values = head.kind == CRUX_MAP ? 2 * head.size : head.kind == CRUX_ARRAY ? head.size : 0;
    crux_view next = {head.body, value.end};
    for (; values > 0 && next.at != NULL; values--) next.at = crux_after(next, depth + 1);
    return next.at;
}

/* The entry of an array; none beyond its end. */
static inline crux_view crux_at(crux_view array, uint64_t index) {
    const crux_head head = crux_head_of(array);
    if (head.kind != CRUX_ARRAY || index >= head.size) return CRUX_NONE;
    crux_view entry = {head.body, array.end};
    for (; index > 0 && entry.at != NULL; index--) entry.at = crux_after(entry, 0);
    return entry;
}

/* The number of entries of an array or pairs of a map, or of the bytes of a text. */
static inline uint64_t crux_count(crux_view value) {
    const crux_head head = crux_head_of(value);
    return head.kind >= CRUX_TEXT ? head.size : 0;
}

/* The bytes of a text or of bytes, which no 0 ends; NULL for anything else. */
static inline const char *crux_bytes(crux_view value, size_t *length) {
    const crux_head head = crux_head_of(value);
    *length = 0;
    if ((head.kind != CRUX_TEXT && head.kind != CRUX_BYTES) || crux_after(value, 0) == NULL) return NULL;
    *length = (size_t)head.size;
    return (const char *)head.body;
}

static inline int crux_is_text(crux_view value, const char *text) {
    size_t length;
    const char *bytes = crux_bytes(value, &length);
    return bytes != NULL && length == strlen(text) && memcmp(bytes, text, length) == 0;
}

/* The value of a key of a map; none if it has no such key. */
static inline crux_view crux_get(crux_view map, const char *key) {
    const crux_head head = crux_head_of(map);
    crux_view next = {head.body, map.end};
    if (head.kind != CRUX_MAP) return CRUX_NONE;
    for (uint64_t pair = 0; pair < head.size; pair++) {
        const crux_view name = next;
        next.at = crux_after(name, 0);
        if (next.at == NULL) return CRUX_NONE;
        if (crux_is_text(name, key)) return next;
        next.at = crux_after(next, 0);
        if (next.at == NULL) return CRUX_NONE;
    }
    return CRUX_NONE;
}

/* An integer; 1 and 0 for true and false, 0 for anything else. */
static inline long long crux_int(crux_view value) {
    const crux_head head = crux_head_of(value);
    return head.kind == CRUX_INT || head.kind == CRUX_BOOL ? (long long)(int64_t)head.size : 0;
}

static inline double crux_double(crux_view value) {
    const crux_head head = crux_head_of(value);
    if (head.kind != CRUX_DOUBLE) return (double)crux_int(value);
    if (*value.at == 0xca) {
        const uint32_t bits = (uint32_t)head.size;
        float narrow;
        memcpy(&narrow, &bits, sizeof narrow);
        return narrow;
    }
    double wide;
    memcpy(&wide, &head.size, sizeof wide);
    return wide;
}

/* ---- a connection ---- */

typedef struct crux_message {
    struct crux_message *next;
    int type;
    size_t length;
    uint8_t payload[];
} crux_message;

typedef struct {
    int fd;
    unsigned long ids;
    /* Events and chunks that came while an answer was waited for. */
    crux_message *first, *last;
    /* What the last result, and the last event or chunk, lie in. */
    crux_message *answer, *pushed;
} crux_client;

/* `path`: the socket; NULL for that of the process that started this program. */
static inline int crux_open(crux_client *client, const char *path) {
    struct sockaddr_un address;
    memset(client, 0, sizeof *client);
    memset(&address, 0, sizeof address);
    client->fd = -1;
    if (path == NULL) path = getenv("CRUX_IPC_SOCKET");
    if (path == NULL || strlen(path) >= sizeof address.sun_path) return CRUX_BROKEN;
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path);
    client->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (client->fd >= 0 && connect(client->fd, (struct sockaddr *)&address, sizeof address) == 0) return CRUX_OK;
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
    return CRUX_BROKEN;
}

static inline void crux_close(crux_client *client) {
    if (client->fd >= 0) close(client->fd);
    while (client->first != NULL) {
        crux_message *next = client->first->next;
        free(client->first);
        client->first = next;
    }
    free(client->answer);
    free(client->pushed);
    memset(client, 0, sizeof *client);
    client->fd = -1;
}

static inline int crux_send_all(int fd, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        const ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) return CRUX_BROKEN;
        bytes += sent;
        count -= (size_t)sent;
    }
    return CRUX_OK;
}

static inline int crux_receive_all(int fd, uint8_t *bytes, size_t count) {
    while (count > 0) {
        const ssize_t got = recv(fd, bytes, count, 0);
        if (got <= 0) return CRUX_BROKEN;
        bytes += got;
        count -= (size_t)got;
    }
    return CRUX_OK;
}

/* The next message of any type; NULL: the connection has ended, or what comes is not this protocol. */
static inline crux_message *crux_receive(crux_client *client) {
    uint8_t head[8];
    if (crux_receive_all(client->fd, head, sizeof head) != CRUX_OK || memcmp(head, "KA\x01", 3) != 0) return NULL;
    const size_t length = (size_t)head[4] << 24 | (size_t)head[5] << 16 | (size_t)head[6] << 8 | head[7];
    crux_message *message = length > CRUX_MAX_PAYLOAD ? NULL : malloc(sizeof *message + length);
    if (message == NULL) return NULL;
    message->next = NULL;
    message->type = head[3];
    message->length = length;
    if (crux_receive_all(client->fd, message->payload, length) == CRUX_OK) return message;
    free(message);
    return NULL;
}

static inline crux_view crux_view_of(const crux_message *message) {
    const crux_view view = {message->payload, message->payload + message->length};
    return view;
}

static inline int crux_request(crux_client *client, const char *id, const char *method, const crux_buffer *params) {
    crux_buffer body = {0};
    uint8_t head[8] = {'K', 'A', 1, CRUX_REQUEST, 0, 0, 0, 0};
    crux_put_map(&body, 3);
    crux_put_text(&body, "id");
    crux_put_text(&body, id);
    crux_put_text(&body, "method");
    crux_put_text(&body, method);
    crux_put_text(&body, "params");
    if (params == NULL) crux_put_map(&body, 0);
    else crux_put(&body, params->data, params->length);
    for (int at = 0; at < 4; at++) head[4 + at] = (uint8_t)(body.length >> (8 * (3 - at)));
    int code = body.failed || (params != NULL && params->failed) ? CRUX_BROKEN : CRUX_OK;
    if (code == CRUX_OK) code = crux_send_all(client->fd, head, sizeof head);
    if (code == CRUX_OK) code = crux_send_all(client->fd, body.data, body.length);
    crux_drop(&body);
    return code;
}

/*
 * CRUX_OK: `result` is that of the method. CRUX_REFUSED: it is the fault, with `code`, `message`, `retryable`. CRUX_BROKEN: the
 * connection is of no more use. `params`: one map, or NULL.
 */
static inline int crux_call(crux_client *client, const char *method, const crux_buffer *params, crux_view *result) {
    char id[24];
    snprintf(id, sizeof id, "%lu", ++client->ids);
    *result = CRUX_NONE;
    if (crux_request(client, id, method, params) != CRUX_OK) return CRUX_BROKEN;
    for (;;) {
        crux_message *message = crux_receive(client);
        if (message == NULL) return CRUX_BROKEN;
        if (message->type != CRUX_RESPONSE) {
            if (client->first == NULL) client->first = message;
            else client->last->next = message;
            client->last = message;
            continue;
        }
        free(client->answer);
        client->answer = message;
        const crux_view answer = crux_view_of(message);
        if (!crux_is_text(crux_get(answer, "id"), id)) continue;
        const crux_view fault = crux_get(answer, "fault");
        *result = fault.at == NULL ? crux_get(answer, "result") : fault;
        return fault.at == NULL ? CRUX_OK : CRUX_REFUSED;
    }
}

/* The next event or chunk; waits for one. */
static inline int crux_pushed(crux_client *client, crux_view *message) {
    free(client->pushed);
    client->pushed = client->first;
    if (client->first != NULL) client->first = client->first->next;
    else client->pushed = crux_receive(client);
    *message = client->pushed == NULL ? CRUX_NONE : crux_view_of(client->pushed);
    return client->pushed == NULL ? CRUX_BROKEN : CRUX_OK;
}

#endif
