/** fds 0 and 1 of a process: handed over at spawn, and what an agent does with its own. */
import { O_RDONLY, O_WRONLY } from "../../abi/device.ts";
import { codeOf, SyscallError } from "../../abi/errors.ts";
import { asFd, type Fd } from "../../abi/ids.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import { bytesFile } from "../ipc/bytes-file.ts";
import type { Process } from "./process.ts";

export const STDIN = asFd(0);
export const STDOUT = asFd(1);

/** The caller's fds become the child's. If the spawn fails they are closed with it: who is at their other end hears. */
export function handOver(caller: Process, proc: Process, opts: SpawnOpts): void {
  const { stdin, stdout } = opts;
  if (stdin !== undefined) {
    const draft =
      stdin instanceof Uint8Array
        ? ({
            file: bytesFile(stdin),
            path: "/dev/stdin",
            mount: "/dev/stdin",
            traffic: "byte",
            flags: O_RDONLY,
          } as const)
        : moved(caller, stdin, O_RDONLY);
    proc.fds.install(STDIN, draft);
  }
  if (stdout !== undefined) proc.fds.install(STDOUT, moved(caller, stdout, O_WRONLY));
}

function moved(caller: Process, fd: Fd, unwanted: 0 | 1) {
  const entry = caller.fds.find(fd, "Spawn");
  const wrong = unwanted === O_RDONLY ? O_WRONLY : O_RDONLY;
  if (entry.flags === wrong) {
    const message = `fd ${fd} is not open for ${unwanted === O_RDONLY ? "reading" : "writing"}`;
    throw new SyscallError({ syscall: "Spawn", pid: caller.pid, code: "INVALID", message });
  }
  return caller.fds.take(fd);
}

/** An agent's result goes to its fd 1, if it has one. A reader that is gone is no failure of the agent. */
export async function writeResult(core: Core, proc: Process): Promise<void> {
  if (!proc.fds.has(STDOUT) || proc.result === "" || proc.abort.signal.aborted) return;
  try {
    await core.handle(proc, null).write(STDOUT, new TextEncoder().encode(proc.result), proc.abort.signal);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    proc.log(
      "warn",
      `its result did not reach its reader: [${codeOf(error)}] ${words}`,
      core.ports.clock.mono(),
    );
  }
}
