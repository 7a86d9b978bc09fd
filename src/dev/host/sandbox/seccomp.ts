/**
 * The system calls that a sandboxed program may not make, as a filter of the host's kernel: calls that reach into
 * other processes, change mounts, reach parts of the kernel that a program does not need, or type into a terminal.
 * They are refused with EPERM, so that programs which can do without them continue. Format: classic BPF over struct
 * seccomp_data (linux/filter.h, linux/seccomp.h).
 */
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeScratchFolder } from "../../../lib/scratch-folder.ts";

export interface Machine {
  /** AUDIT_ARCH_…; calls through another ABI (32 bits) are all refused. */
  readonly audit: number;
  /** Calls from this number on belong to another ABI (x32); 0: the machine has no such ABI. */
  readonly foreignFrom: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly clone: number;
  readonly clone3: number;
  readonly unshare: number;
  readonly refused: readonly number[];
  readonly alone: Alone;
}

/** Further calls that are refused where no namespaces hold what they reach. */
interface Alone {
  /** Shared memory, semaphores and queues of System V, message queues, attributes of files. */
  readonly refused: readonly number[];
  readonly socketpair: number;
  /** chmod and its kin: the call, and which of its arguments is the mode. */
  readonly chmod: readonly (readonly [number: number, mode: number])[];
  /**
   * Calls that change how a process runs, refused for any but the caller. `calls`: the first argument is the process.
   * `kinds`: the second is, if the first is this number.
   */
  readonly ofCaller: {
    readonly calls: readonly number[];
    readonly kinds: readonly (readonly [number: number, kind: number])[];
  };
}

/** What network a program without a network namespace has. */
export type Sockets = "none" | "host";

/**
 * Numbers that are equal on all machines: io_uring (425–427), the mount calls of Linux 5.2 (428–433, 442),
 * pidfd_getfd.
 */
const COMMON = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442];

/** setxattrat, removexattrat; file_setattr: equal on all machines. */
const ALONE = [463, 466, 469];

/** PRIO_PROCESS and IOPRIO_WHO_PROCESS. */
const ONE_PROCESS = [0, 1] as const;

/** prlimit64, sched_setaffinity, -scheduler, -param and -attr; setpriority and ioprio_set. */
function ofCaller(calls: readonly number[], kinds: readonly [number, number]): Alone["ofCaller"] {
  return { calls, kinds: kinds.map((call, i) => [call, ONE_PROCESS[i] ?? 0]) };
}

export const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    foreignFrom: 0x40000000,
    ioctl: 16,
    socket: 41,
    clone: 56,
    clone3: 435,
    unshare: 272,
    // ptrace, process_vm_readv and -writev, kcmp; keyctl, add_key, request_key; bpf, userfaultfd, perf_event_open;
    // mount, umount2, pivot_root, chroot, setns, open_by_handle_at; modules, kexec, swap, reboot, clocks, acct,
    // quotactl
    refused: [
      ...COMMON,
      ...[101, 310, 311, 312, 250, 248, 249, 321, 323, 298, 165, 166, 155, 161, 308, 304],
      ...[175, 313, 176, 246, 320, 167, 168, 169, 164, 227, 305, 159, 163, 179],
    ],
    alone: {
      refused: [
        ...ALONE,
        29,
        30,
        31,
        64,
        65,
        66,
        220,
        68,
        69,
        70,
        71,
        240,
        241,
        188,
        189,
        190,
        197,
        198,
        199,
      ],
      socketpair: 53,
      chmod: [...[90, 91].map((call) => [call, 1] as const), [268, 2], [452, 2]],
      ofCaller: ofCaller([302, 203, 144, 142, 314], [141, 251]),
    },
  },
  arm64: {
    audit: 0xc00000b7,
    foreignFrom: 0,
    ioctl: 29,
    socket: 198,
    clone: 220,
    clone3: 435,
    unshare: 97,
    refused: [
      ...COMMON,
      ...[117, 270, 271, 272, 219, 217, 218, 280, 282, 241, 40, 39, 41, 51, 268, 265],
      ...[105, 273, 106, 104, 294, 224, 225, 142, 170, 112, 266, 171, 89, 60],
    ],
    alone: {
      refused: [
        ...ALONE,
        ...[194, 195, 196, 197, 190, 191, 192, 193, 186, 187, 188, 189, 180, 181, 5, 6, 7, 14, 15, 16],
      ],
      socketpair: 199,
      chmod: [
        [52, 1],
        [53, 2],
        [452, 2],
      ],
      ofCaller: ofCaller([261, 122, 119, 118, 274], [140, 30]),
    },
  },
};

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const AND = 0x54;
const RETURN = 0x06;

const ALLOWED = 0x7fff0000;
const EPERM = 0x00050001;
/** The answer to clone3: programs then use clone, whose flags the filter can read. */
const ENOSYS = 0x00050026;

const NUMBER_AT = 0;
const ARCH_AT = 4;
/** The offset of the lower half of the n-th argument; both machines are little-endian. */
const argument = (n: number) => 16 + 8 * n;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const CLONE_NEWUSER = 0x10000000;
/** CLONE_NEWTIME is of clone3 and unshare alone: in clone it is part of a signal's number. */
const CLONE_NEW = 0x7e020000;
const SET_ID = 0o6000;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_PACKET = 17;
const AF_VSOCK = 40;
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOCK_PACKET = 10;
/** Separates the socket type from the flags SOCK_NONBLOCK and SOCK_CLOEXEC. */
const SOCK_TYPE_MASK = 0xf;

/** A label marks the position of the next instruction; a jump names a label, or falls through. */
type Line = { readonly label: string } | Instruction;
interface Instruction {
  readonly code: number;
  readonly k: number;
  readonly yes?: string;
  readonly no?: string;
}

const load = (k: number): Line => ({ code: LOAD, k });
const equal = (k: number, yes: string, no?: string): Line => ({
  code: JUMP_EQUAL,
  k,
  yes,
  ...(no === undefined ? {} : { no }),
});
const give = (k: number): Line => ({ code: RETURN, k });

function linesFor(machine: Machine, sockets?: Sockets): readonly Line[] {
  const { audit, foreignFrom, refused, ioctl, socket, clone, clone3, unshare } = machine;
  return [
    load(ARCH_AT),
    { code: JUMP_EQUAL, k: audit, no: "refuse" },
    load(NUMBER_AT),
    ...(foreignFrom === 0 ? [] : [{ code: JUMP_AT_LEAST, k: foreignFrom, yes: "refuse" }]),
    ...refused.map((number) => equal(number, "refuse")),
    ...(sockets === undefined ? [] : linesAlone(machine, sockets)),
    equal(clone3, "missing"),
    equal(ioctl, "ioctl"),
    equal(socket, "socket"),
    equal(clone, "namespace"),
    equal(unshare, "namespace", "allow"),
    { label: "ioctl" },
    load(argument(1)),
    equal(TIOCSTI, "refuse"),
    equal(TIOCLINUX, "refuse", "allow"),
    { label: "namespace" },
    load(argument(0)),
    { code: JUMP_ANY_BIT, k: sockets === undefined ? CLONE_NEWUSER : CLONE_NEW, yes: "refuse", no: "allow" },
    { label: "socket" },
    load(argument(0)),
    ...(sockets === undefined ? [] : [equal(AF_UNIX, "refuse")]),
    equal(AF_PACKET, "refuse"),
    equal(AF_VSOCK, "refuse"),
    equal(AF_INET, "kind"),
    equal(AF_INET6, "kind", "allow"),
    { label: "kind" },
    load(argument(1)),
    { code: AND, k: SOCK_TYPE_MASK },
    equal(SOCK_RAW, "refuse"),
    equal(SOCK_PACKET, "refuse", "allow"),
    { label: "allow" },
    give(ALLOWED),
    { label: "missing" },
    give(ENOSYS),
    { label: "refuse" },
    give(EPERM),
  ];
}

/**
 * Without namespaces. A socket of this user's services is reached by its name, and no rule of Landlock knows such names:
 * so there are none but connected pairs, of a kind that cannot be sent elsewhere. A limit, a priority or a processor is set
 * only for the caller itself, and no file is made to run as its owner.
 */
function linesAlone({ alone, socket }: Machine, sockets: Sockets): readonly Line[] {
  const { refused, socketpair, chmod, ofCaller } = alone;
  const self = { at: 0, k: 0, is: true };
  return [
    ...refused.map((number) => equal(number, "refuse")),
    ...(sockets === "none" ? [equal(socket, "refuse")] : []),
    ...only(socketpair, [{ at: 1, and: SOCK_TYPE_MASK, k: SOCK_DGRAM, is: false }]),
    ...chmod.flatMap(([call, at]) => only(call, [{ at, and: SET_ID, k: 0, is: true }])),
    ...ofCaller.calls.flatMap((call) => only(call, [self])),
    ...ofCaller.kinds.flatMap(([call, kind]) =>
      only(call, [
        { ...self, k: kind },
        { ...self, at: 1 },
      ]),
    ),
  ];
}

interface Check {
  /** Which argument; `and`: only these bits of it. */
  readonly at: number;
  readonly and?: number;
  readonly k: number;
  /** Whether it must be `k`, or must not. */
  readonly is: boolean;
}

/** The call is permitted if all checks hold. */
function only(call: number, checks: readonly Check[]): readonly Line[] {
  const [bad, after] = [`not ${call}`, `after ${call}`];
  return [
    { code: JUMP_EQUAL, k: call, no: after },
    ...checks.flatMap(({ at, and, k, is }) => [
      load(argument(at)),
      ...(and === undefined ? [] : [{ code: AND, k: and }]),
      { code: JUMP_EQUAL, k, ...(is ? { no: bad } : { yes: bad }) },
    ]),
    give(ALLOWED),
    { label: bad },
    give(EPERM),
    { label: after },
  ];
}

/** The filter in the format of `bwrap --seccomp`. `sockets`: for a program without namespaces. */
function seccompFilter(machine: Machine, sockets?: Sockets): Buffer {
  return assemble(linesFor(machine, sockets));
}

/** Eight bytes per instruction: the code, the jump distances if the test is true and if it is false, and a number. */
function assemble(lines: readonly Line[]): Buffer {
  const instructions = lines.filter((line) => "code" in line);
  const places = new Map<string, number>();
  let at = 0;
  for (const line of lines) {
    if ("label" in line) places.set(line.label, at);
    else at++;
  }
  const bytes = Buffer.alloc(instructions.length * 8);
  instructions.forEach(({ code, k, yes, no }, i) => {
    const distance = (label: string | undefined) =>
      label === undefined ? 0 : (places.get(label) ?? -1) - i - 1;
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(distance(yes), i * 8 + 2);
    bytes.writeUInt8(distance(no), i * 8 + 3);
    bytes.writeUInt32LE(k, i * 8 + 4);
  });
  return bytes;
}

/** The filter in an unlinked file: each child reads it from an fd of its own, and nothing can change it. */
export class SeccompFile {
  readonly #fd: number;

  constructor(machine: Machine, sockets?: Sockets) {
    const dir = makeScratchFolder("crux-filter-");
    try {
      const path = join(dir, "filter");
      writeFileSync(path, seccompFilter(machine, sockets), { mode: 0o600 });
      this.#fd = openSync(path, "r");
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }

  /** A new fd at the start of the file; the caller closes it. */
  open(): number {
    return openSync(`/proc/self/fd/${this.#fd}`, "r");
  }

  close(): void {
    closeSync(this.#fd);
  }
}
