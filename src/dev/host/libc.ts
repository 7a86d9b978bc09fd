/**
 * The few calls of the C library that Node does not offer. posix_spawn starts a program without first copying the
 * page tables of this process, as Node's own spawn does (40 µs per megabyte held, during which the event loop stands
 * still). Formats: POSIX.1-2024, spawn.h and sys/wait.h; glibc's addchdir_np and POSIX_SPAWN_SETSID.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { getSystemErrorName } from "node:util";
import type * as Koffi from "koffi";

export interface SpawnCall {
  /** The absolute path of the program. */
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  readonly cwd: string;
  /** Our fds, which become 0, 1, 2 … in the program; all other fds of ours are closed in it. */
  readonly fds: readonly number[];
}

export interface Libc {
  /**
   * Starts a program as the leader of a new session and returns its pid. Throws an error with the host's code (ENOENT
   * …).
   */
  spawn(call: SpawnCall): number;
  /**
   * The same on another thread: this one would stand still until the program begins. `pidNow` is its pid as soon as that thread knows it,
   * 0 before; where it does not start, `pid` rejects.
   */
  spawnBeside(call: SpawnCall): { readonly pid: Promise<number>; pidNow(): number };
  /** The raw wait status of an ended child of ours, which is reaped by this call; undefined: it is still running. */
  waitNow(pid: number): number | undefined;
  /** True if poll(2) reports a change of the file since it was opened, or since the last call: of mountinfo, a mount. */
  hasChanged(fd: number): boolean;
  /** Two connected sockets, close-on-exec: streams, or with `isOfMessages` of whole messages. */
  socketPair(isOfMessages?: boolean): readonly [number, number];
  /** Sends one message with fds of ours. False: it was not taken, as the other end is behind, or gone. Never waits. */
  sendFds(socket: number, message: Uint8Array, fds: readonly number[]): boolean;
  /** A pipe, close-on-exec; both ends block. */
  pipe(): { readonly reader: number; readonly writer: number };
  /** Another number of the open file, close-on-exec. */
  copyOf(fd: number): number;
  /** Makes a pipe hold so many bytes. False: the system does not give it that. */
  growPipe(fd: number, bytes: number): boolean;
  /** Gives the memory that the library holds unused back to the system; its own threads wait meanwhile. */
  releaseFree(): void;
  /** Lets go of what is mapped of the running program's file. What is used again is mapped again, 16 pages at a time. */
  releaseProgram(): void;
}

const SETSIGDEF = 0x04;
const SETSIGMASK = 0x08;
const SETSID = 0x80;
const WNOHANG = 1;
const POLLPRI = 2;
const POLLERR = 8;
const AF_UNIX = 1;
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const F_DUPFD_CLOEXEC = 1030;
/** Above every number that a program is given: what becomes 3 there must not be the source of a later one. */
const COPIES_FROM = 16;
const MADV_DONTNEED = 4;
const [SOCK_STREAM, SOCK_SEQPACKET] = [1, 5];
const [MSG_DONTWAIT, MSG_NOSIGNAL] = [0x40, 0x4000];
const [SOL_SOCKET, SCM_RIGHTS] = [1, 1];
const CMSG_BYTES = 16;
/** Larger than glibc's opaque types are on any platform: 80, 336 and 128 bytes. */
const ACTIONS_BYTES = 256;
const ATTRIBUTES_BYTES = 1024;
const SIGNAL_SET_BYTES = 128;

let found: { readonly libc: Libc | undefined } | undefined;

/** undefined: not Linux, or the library cannot be loaded. Takes about 7 ms, once. */
export function findLibc(): Libc | undefined {
  found ??= { libc: loaded() };
  return found.libc;
}

function loaded(): Libc | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    // a native library cannot be part of the bundle
    const koffi = createRequire(import.meta.url)("koffi") as typeof Koffi;
    return bind(koffi.load("libc.so.6"));
  } catch {
    return undefined;
  }
}

function bind(library: Koffi.LibraryHandle): Libc {
  const call = callsOf(library);
  const attributes = Buffer.alloc(ATTRIBUTES_BYTES);
  check(call.attrInit(attributes));
  check(call.attrFlags(attributes, SETSIGDEF | SETSIGMASK | SETSID));
  // Node ignores SIGPIPE; a program must not inherit that, nor a mask
  check(call.attrDefault(attributes, Buffer.alloc(SIGNAL_SET_BYTES, 0xff)));
  check(call.attrMask(attributes, Buffer.alloc(SIGNAL_SET_BYTES)));
  const prepared = ({ path, argv, env, cwd, fds }: SpawnCall) => {
    for (const text of [path, cwd, ...argv, ...env])
      if (text.includes("\0")) throw new TypeError("a text for the host has a zero byte");
    const actions = Buffer.alloc(ACTIONS_BYTES);
    check(call.actionsInit(actions));
    try {
      for (const [target, fd] of fds.entries()) check(call.actionsDup(actions, fd, target));
      check(call.actionsChdir(actions, cwd));
    } catch (error) {
      call.actionsDestroy(actions);
      throw error;
    }
    // its memory does not move: another thread may write into it
    const pid = Buffer.allocUnsafeSlow(Int32Array.BYTES_PER_ELEMENT).fill(0);
    const words = [pid, path, actions, attributes, [...argv, null], [...env, null]];
    return { pidNow: () => new Int32Array(pid.buffer)[0] ?? 0, actions, words };
  };
  return {
    spawn: (wanted) => {
      const { words, pidNow, actions } = prepared(wanted);
      try {
        check(call.spawn(...words));
        return pidNow();
      } finally {
        call.actionsDestroy(actions);
      }
    },
    spawnBeside: (wanted) => {
      const { words, pidNow, actions } = prepared(wanted);
      const pid = new Promise<number>((resolve, reject) => {
        call.spawn.async(...words, (error: unknown, status: number) => {
          call.actionsDestroy(actions);
          if (error == null && status === 0) resolve(pidNow());
          else reject(error ?? hostError("spawn", status));
        });
      });
      return { pid, pidNow };
    },
    waitNow(pid) {
      const status = [0];
      return call.wait(pid, status, WNOHANG) === pid ? status[0] : undefined;
    },
    hasChanged(fd) {
      // struct pollfd: the fd, the events asked for, those that came
      const asked = new Int32Array([fd, 0]);
      const [events, came] = [2, 3];
      const halves = new Int16Array(asked.buffer);
      halves[events] = POLLPRI;
      if (call.poll(asked, 1, 0) < 0) throw hostError("poll", call.errno());
      return ((halves[came] ?? 0) & (POLLPRI | POLLERR)) !== 0;
    },
    ...channels(call),
    copyOf(fd) {
      const copy = call.control(fd, F_DUPFD_CLOEXEC, "int", COPIES_FROM);
      if (copy < 0) throw hostError("fcntl", call.errno());
      return copy;
    },
    growPipe: (fd, bytes) => call.control(fd, F_SETPIPE_SZ, "int", bytes) >= bytes,
    releaseFree: () => void call.trim(0),
    releaseProgram() {
      for (const [from, to] of unchangedParts()) call.advise(from, to - from, MADV_DONTNEED);
    },
  };
}

/**
 * Where the running program lies in memory as it is in its file: all that comes before what it may write, but for the last part, in which
 * its loader has put addresses.
 */
function unchangedParts(): readonly (readonly [from: number, to: number])[] {
  const program = readlinkSync("/proc/self/exe");
  const lines = readFileSync("/proc/self/maps", "utf8").split("\n");
  const own = lines.filter((line) => line.endsWith(` ${program}`)).map((line) => line.split(/[ -]/, 3));
  const writable = own.findIndex(([, , mode]) => mode?.startsWith("rw"));
  return own
    .slice(0, Math.max(0, writable - 1))
    .map(([from = "", to = ""]) => [Number.parseInt(from, 16), Number.parseInt(to, 16)]);
}

/** What programs are talked to over. */
function channels(call: ReturnType<typeof callsOf>): Pick<Libc, "socketPair" | "sendFds" | "pipe"> {
  return {
    socketPair(isOfMessages = false) {
      const fds = new Int32Array(2);
      const kind = (isOfMessages ? SOCK_SEQPACKET : SOCK_STREAM) | O_CLOEXEC;
      if (call.socketPair(AF_UNIX, kind, 0, fds) !== 0) throw hostError("socketpair", call.errno());
      return [fds[0] ?? -1, fds[1] ?? -1];
    },
    sendFds(socket, message, given) {
      // struct cmsghdr: its length, level and kind, then the fds
      const control = Buffer.alloc(CMSG_BYTES + 8 * Math.ceil(given.length / 2));
      const controllen = CMSG_BYTES + 4 * given.length;
      control.writeBigUInt64LE(BigInt(controllen), 0);
      for (const [at, word] of [SOL_SOCKET, SCM_RIGHTS, ...given].entries())
        control.writeInt32LE(word, 8 + 4 * at);
      const iov = [{ base: message, len: message.length }];
      const header = { name: null, namelen: 0, iov, iovlen: 1, control, controllen, flags: 0 };
      return call.send(socket, header, MSG_DONTWAIT | MSG_NOSIGNAL) === message.length;
    },
    pipe() {
      const fds = new Int32Array(2);
      if (call.pipe(fds, O_CLOEXEC) !== 0) throw hostError("pipe2", call.errno());
      return { reader: fds[0] ?? -1, writer: fds[1] ?? -1 };
    },
  };
}

function callsOf(library: Koffi.LibraryHandle) {
  const f = (prototype: string) => library.func(prototype);
  const errnoPlace = f("int *__errno_location()");
  const koffi = createRequire(import.meta.url)("koffi") as typeof Koffi;
  const iovec = koffi.struct({ base: "void *", len: "size_t" });
  const header = koffi.struct({
    ...{ name: "void *", namelen: "uint32", iov: koffi.pointer(iovec), iovlen: "size_t" },
    ...{ control: "void *", controllen: "size_t", flags: "int" },
  });
  return {
    send: library.func("sendmsg", "long", ["int", koffi.pointer(header), "int"]),
    spawn: f(
      "int posix_spawn(void *pid, const char *path, void *actions, void *attributes, const char **argv, const char **envp)",
    ),
    actionsInit: f("int posix_spawn_file_actions_init(void *actions)"),
    actionsDup: f("int posix_spawn_file_actions_adddup2(void *actions, int fd, int target)"),
    actionsChdir: f("int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)"),
    actionsDestroy: f("int posix_spawn_file_actions_destroy(void *actions)"),
    attrInit: f("int posix_spawnattr_init(void *attributes)"),
    attrFlags: f("int posix_spawnattr_setflags(void *attributes, short flags)"),
    attrDefault: f("int posix_spawnattr_setsigdefault(void *attributes, const void *set)"),
    attrMask: f("int posix_spawnattr_setsigmask(void *attributes, const void *set)"),
    wait: f("int waitpid(int pid, _Out_ int *status, int options)"),
    poll: f("int poll(void *fds, unsigned long count, int timeout)"),
    socketPair: f("int socketpair(int domain, int type, int protocol, void *fds)"),
    pipe: f("int pipe2(void *fds, int flags)"),
    trim: f("int malloc_trim(size_t kept)"),
    advise: f("int madvise(size_t from, size_t bytes, int advice)"),
    control: f("int fcntl(int fd, int command, ...)"),
    errno: (): number => koffi.decode(errnoPlace(), "int") as number,
  };
}

/** The posix_spawn functions return their error instead of setting errno. */
function check(status: number): void {
  if (status !== 0) throw hostError("spawn", status);
}

function hostError(what: string, errno: number): Error {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${what} ${code}`), { code, errno: -errno, syscall: what });
}
