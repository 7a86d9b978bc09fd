/* Runs a program through the kernel, feeds it, and prints what it writes, line by line; then claims a device and uses it. */
#define _POSIX_C_SOURCE 200809L
#include "crux_ipc.h"

static void print(crux_view text, const char *after) {
    size_t length;
    const char *bytes = crux_bytes(text, &length);
    printf("%.*s%s", (int)length, bytes == NULL ? "" : bytes, after);
}

static int fail(crux_view fault) {
    fputs("refused: ", stdout);
    print(crux_get(fault, "message"), "\n");
    return 1;
}

/* {pid, ...}: so many more pairs follow. */
static crux_buffer about(long long pid, uint32_t more) {
    crux_buffer params = {0};
    crux_put_map(&params, 1 + more);
    crux_put_text(&params, "pid");
    crux_put_int(&params, pid);
    return params;
}

static int greet(crux_client *kernel) {
    crux_view result;
    crux_buffer params = {0};
    crux_put_map(&params, 1);
    crux_put_text(&params, "features");
    crux_put_array(&params, 1);
    crux_put_text(&params, "streams");
    const int code = crux_call(kernel, "kernel.hello", &params, &result);
    crux_drop(&params);
    if (code != CRUX_OK) return fail(result);
    print(crux_get(crux_get(result, "server"), "name"), " ");
    printf("%lld ", crux_int(crux_get(result, "protocol")));
    print(crux_get(crux_get(result, "authority"), "kind"), "\n");
    return 0;
}

static int show_fault(crux_client *kernel) {
    crux_view fault;
    crux_buffer params = about(999999999, 0);
    const int code = crux_call(kernel, "process.status", &params, &fault);
    crux_drop(&params);
    if (code != CRUX_REFUSED) return 1;
    print(crux_get(fault, "code"), " ");
    puts(crux_int(crux_get(fault, "retryable")) ? "true" : "false");
    return 0;
}

static long long spawn_sort(crux_client *kernel) {
    crux_view result;
    crux_buffer params = {0};
    crux_put_map(&params, 2);
    crux_put_text(&params, "id");
    crux_put_text(&params, "c:sort");
    crux_put_text(&params, "command");
    crux_put_array(&params, 1);
    crux_put_text(&params, "sort");
    const int code = crux_call(kernel, "process.spawn", &params, &result);
    crux_drop(&params);
    if (code == CRUX_OK) return crux_int(crux_get(result, "pid"));
    fail(result);
    return -1;
}

static int feed(crux_client *kernel, long long pid) {
    crux_view result;
    crux_buffer wish = about(pid, 3);
    crux_put_text(&wish, "filter");
    crux_put_text(&wish, "stdout");
    crux_put_text(&wish, "mode");
    crux_put_text(&wish, "line");
    crux_put_text(&wish, "from");
    crux_put_text(&wish, "start");
    int code = crux_call(kernel, "process.stream.subscribe", &wish, &result);
    crux_drop(&wish);
    if (code != CRUX_OK) return fail(result);
    crux_buffer input = about(pid, 2);
    crux_put_text(&input, "data");
    crux_put_bytes(&input, "b\na\nc\n", 6);
    crux_put_text(&input, "eof");
    crux_put_bool(&input, 1);
    code = crux_call(kernel, "process.stdin.write", &input, &result);
    crux_drop(&input);
    return code == CRUX_OK ? 0 : fail(result);
}

static int show_output(crux_client *kernel) {
    crux_view chunk;
    while (crux_pushed(kernel, &chunk) == CRUX_OK) {
        if (crux_int(crux_get(chunk, "end"))) return 0;
        const crux_view lines = crux_get(chunk, "lines");
        for (uint64_t at = 0; at < crux_count(lines); at++) print(crux_at(lines, at), "\n");
    }
    return 1;
}

/* {claim, ...}: so many more pairs follow. */
static crux_buffer by_claim(const char *claim, uint32_t more) {
    crux_buffer params = {0};
    crux_put_map(&params, 1 + more);
    crux_put_text(&params, "claim");
    crux_put_text(&params, claim);
    return params;
}

static int use_device(crux_client *kernel) {
    crux_view result;
    char claim[129];
    size_t length;
    crux_buffer params = {0};
    crux_put_map(&params, 1);
    crux_put_text(&params, "device");
    crux_put_text(&params, "virtual/loop0");
    int code = crux_call(kernel, "device.claim", &params, &result);
    crux_drop(&params);
    if (code != CRUX_OK) return fail(result);
    const char *name = crux_bytes(crux_get(result, "claim"), &length);
    if (name == NULL || length >= sizeof claim) return 1;
    memcpy(claim, name, length);
    claim[length] = 0;
    params = by_claim(claim, 1);
    crux_put_text(&params, "data");
    crux_put_bytes(&params, "round trip", 10);
    code = crux_call(kernel, "device.write", &params, &result);
    crux_drop(&params);
    if (code != CRUX_OK) return fail(result);
    params = by_claim(claim, 1);
    crux_put_text(&params, "length");
    crux_put_int(&params, 64);
    code = crux_call(kernel, "device.read", &params, &result);
    crux_drop(&params);
    if (code != CRUX_OK) return fail(result);
    print(crux_get(result, "data"), "\n");
    params = by_claim(claim, 0);
    code = crux_call(kernel, "device.release", &params, &result);
    crux_drop(&params);
    if (code != CRUX_OK) return fail(result);
    puts(crux_int(crux_get(result, "released")) ? "true" : "false");
    return 0;
}

int main(int count, char **words) {
    crux_client kernel;
    crux_view result;
    if (crux_open(&kernel, count > 1 ? words[1] : NULL) != CRUX_OK) {
        puts("the kernel is not there");
        return 1;
    }
    int code = greet(&kernel) || show_fault(&kernel);
    const long long pid = code ? -1 : spawn_sort(&kernel);
    code = pid < 0 || feed(&kernel, pid) || show_output(&kernel);
    if (!code) {
        crux_buffer params = about(pid, 0);
        code = crux_call(&kernel, "process.wait", &params, &result);
        crux_drop(&params);
        if (code == CRUX_OK) printf("%lld\n", crux_int(crux_get(result, "exitCode")));
    }
    if (!code) code = use_device(&kernel);
    crux_close(&kernel);
    return code ? 1 : 0;
}
