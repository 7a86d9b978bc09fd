/**
 * The credentials of the process at the other end of a Unix socket, as the host's kernel recorded them when that end
 * connected: SO_PEERCRED on Linux (unix(7)); getpeereid(3) and LOCAL_PEERPID on macOS. Node offers neither.
 */
import { createRequire } from "node:module";
import type * as Koffi from "koffi";

export interface PeerCredentials {
  readonly uid: number;
  /** 0: a process of another pid namespace, or not known. */
  readonly pid: number;
}

/** undefined: the credentials of this fd cannot be read. */
export type ReadPeer = (fd: number) => PeerCredentials | undefined;

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: pid, uid, gid, 32 bits each. */
const UCRED_BYTES = 12;
const SOL_LOCAL = 0;
const LOCAL_PEERPID = 2;

/** undefined: not supported on this platform, or the C library cannot be loaded. */
export function findReadPeer(): ReadPeer | undefined {
  try {
    // a native library cannot be part of the bundle
    const koffi = createRequire(import.meta.url)("koffi") as typeof Koffi;
    if (process.platform === "linux") return onLinux(koffi.load("libc.so.6"));
    if (process.platform === "darwin") return onMac(koffi.load("/usr/lib/libSystem.B.dylib"));
    return undefined;
  } catch {
    return undefined;
  }
}

const GETSOCKOPT = "int getsockopt(int fd, int level, int name, void *value, void *length)";

function onLinux(library: Koffi.LibraryHandle): ReadPeer {
  const getsockopt = library.func(GETSOCKOPT);
  return (fd) => {
    const value = Buffer.alloc(UCRED_BYTES);
    const length = lengthOf(value);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, value, length) !== 0) return undefined;
    const view = new Int32Array(value.buffer, value.byteOffset, 3);
    const [pid = 0, uid = -1] = view;
    return { pid: Math.max(0, pid), uid: uid >>> 0 };
  };
}

function onMac(library: Koffi.LibraryHandle): ReadPeer {
  const getpeereid = library.func("int getpeereid(int fd, _Out_ uint *uid, _Out_ uint *gid)");
  const getsockopt = library.func(GETSOCKOPT);
  return (fd) => {
    const [uid, gid] = [[0], [0]];
    if (getpeereid(fd, uid, gid) !== 0) return undefined;
    const value = Buffer.alloc(4);
    const isKnown = getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, value, lengthOf(value)) === 0;
    return { uid: uid[0] ?? -1, pid: isKnown ? value.readInt32LE() : 0 };
  };
}

/** A socklen_t in the host's byte order. */
function lengthOf(value: Buffer): Buffer {
  return Buffer.from(new Uint32Array([value.length]).buffer);
}
