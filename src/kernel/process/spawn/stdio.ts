/** fds 0 and 1 of a process: handed over at spawn; an agent's result goes to its fd 1. */
import { O_RDONLY, O_WRONLY, type OpenFile } from "../../../abi/device.ts";
import { codeOf, messageOf, SyscallError } from "../../../abi/errors.ts";
import { asFd, type Fd } from "../../../abi/ids.ts";
import type { SpawnOpts, Syscalls } from "../../../abi/sys.ts";
import { bytesFile } from "../../ipc/bytes-file.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { FdDraft } from "../../vfs/fd-table.ts";
import type { DeviceRegistry } from "../../vfs/registry.ts";
import type { Process } from "../process.ts";
import { narrowedTo } from "../rights/rights.ts";

export const STDIN = asFd(0);
export const STDOUT = asFd(1);
const STDIN_PATH = "/dev/stdin";

type Devices = Pick<DeviceRegistry, "has">;

/** What writing a result needs of the kernel. */
export interface ResultWriting {
  readonly ports: Pick<KernelPorts, "clock">;
  handle(self: Process, scope: null): Pick<Syscalls, "write">;
}

/** From whom a child gets its files. */
interface HandOver {
  readonly caller: Process;
  readonly proc: Process;
  readonly opts: Pick<SpawnOpts, "stdin" | "stdout">;
}

/**
 * Moves the caller's fds to the child. Both are checked before either is moved, so a refused caller keeps them. If the
 * spawn fails later they are closed with it, and the other end is notified.
 */
export function handOver(devices: Devices, { caller, proc, opts }: HandOver): void {
  const { stdin, stdout } = opts;
  checkInput(caller, stdin);
  if (stdout !== undefined) checkOpenFor(caller, stdout, "writing");
  for (const fd of [stdin, stdout]) if (typeof fd === "number") checkMayHave(devices, { caller, proc }, fd);
  if (stdout !== undefined && stdin === stdout)
    throw invalid(caller, `fd ${stdout} cannot be both stdin and stdout`);
  if (stdin !== undefined)
    proc.fds.install(STDIN, stdin instanceof Uint8Array ? given(stdin) : caller.fds.take(stdin));
  if (stdout !== undefined) proc.fds.install(STDOUT, caller.fds.take(stdout));
}

/** A file made by the kernel with which a process begins. */
export interface StdFile {
  readonly fd: 0 | 1 | 2;
  readonly file: OpenFile;
}

const STD = [
  { path: STDIN_PATH, flags: O_RDONLY },
  { path: "/dev/stdout", flags: O_WRONLY },
  { path: "/dev/stderr", flags: O_WRONLY },
] as const;

export function installFiles(proc: Process, files: readonly StdFile[]): void {
  for (const { fd, file } of files) {
    const { path, flags } = STD[fd];
    proc.fds.install(asFd(fd), { file, path, mount: path, traffic: "byte", flags });
  }
}

function checkInput(caller: Process, stdin: SpawnOpts["stdin"]): void {
  if (stdin === undefined) return;
  if (!(stdin instanceof Uint8Array)) checkOpenFor(caller, stdin, "reading");
  else if (stdin.byteLength > LIMITS.writeBytes)
    throw invalid(caller, `stdin of ${stdin.byteLength} bytes; at most ${LIMITS.writeBytes}`);
}

function checkOpenFor(caller: Process, fd: Fd, use: "reading" | "writing"): void {
  const { flags } = caller.fds.find(fd, "Spawn");
  if (flags === (use === "reading" ? O_WRONLY : O_RDONLY))
    throw invalid(caller, `fd ${fd} is not open for ${use}`);
}

/** An open file keeps the rights of its opener: that of a device goes only to a process that could have opened it. */
function checkMayHave(devices: Devices, { caller, proc }: Omit<HandOver, "opts">, fd: Fd): void {
  const { mount, path } = caller.fds.find(fd, "Spawn");
  if (!devices.has(mount) || narrowedTo(proc, mount, path)) return;
  const message = `device not allowed: ${mount}`;
  throw new SyscallError({ syscall: "Spawn", pid: caller.pid, code: "PERMISSION", message });
}

/** Copies the bytes, so that the caller cannot change them later. */
function given(bytes: Uint8Array): FdDraft {
  const file = bytesFile(bytes.slice(), STDIN_PATH);
  return { file, path: STDIN_PATH, mount: STDIN_PATH, traffic: "byte", flags: O_RDONLY };
}

function invalid(caller: Process, message: string): SyscallError {
  return new SyscallError({ syscall: "Spawn", pid: caller.pid, code: "INVALID", message });
}

/** Writes an agent's result to its fd 1, if it has one. A missing reader is logged; it is no failure of the agent. */
export async function writeResult(core: ResultWriting, proc: Process): Promise<void> {
  if (!proc.fds.has(STDOUT) || proc.result === "" || proc.abort.signal.aborted) return;
  try {
    await core.handle(proc, null).write(STDOUT, new TextEncoder().encode(proc.result), proc.abort.signal);
  } catch (error) {
    const words = `its result did not reach its reader: [${codeOf(error)}] ${messageOf(error)}`;
    proc.log("warn", words, core.ports.clock.mono());
  }
}
