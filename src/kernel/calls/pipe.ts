/** The call of pipes (ipc/pipe.ts). */
import { O_RDONLY, O_WRONLY } from "../../abi/device.ts";
import { SyscallError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { checkLasting } from "../gate/covers.ts";
import { makePipe } from "../ipc/pipe.ts";
import type { Lookup } from "../ports/lookup.ts";
import type { FdTable } from "../vfs/fd-table.ts";

/** The parts of the kernel that pipes use. */
interface Kernel {
  readonly table: Lookup<Owner>;
  nextPipe(): number;
}

/** The process whose fd table holds an end. */
interface Owner {
  readonly pid: Pid;
  readonly isLive: boolean;
  readonly fds: FdTable;
}

/**
 * Pipe(reader, writer): bytes from one process to another; each end lies in its own process's table and ends with it.
 */
export const pipe: Call<"pipe", { writer: Pid; reader: Pid }, Kernel, Owner> = {
  name: "Pipe",
  take: (writer, reader) => ({ writer, reader }),
  args: ({ reader, writer }) => ({ reader, writer }),
  run({ core, self, scope }, ends) {
    checkLasting(scope, "pipes", { self, syscall: "Pipe" });
    const [writer, reader] = [ownerOf(core, self, ends.writer), ownerOf(core, self, ends.reader)];
    const path = `pipe:[${core.nextPipe()}]`;
    const freeWriter = writer.fds.claim(path, "Pipe");
    let freeReader = (): void => {};
    try {
      freeReader = reader.fds.claim(path, "Pipe");
      const made = makePipe(path);
      const common = { path, mount: path, traffic: "byte" } as const;
      return {
        writeFd: writer.fds.add({ ...common, file: made.writer, flags: O_WRONLY }).fd,
        readFd: reader.fds.add({ ...common, file: made.reader, flags: O_RDONLY }).fd,
      };
    } finally {
      freeWriter();
      freeReader();
    }
  },
};

/** The process that gets an end: the caller controls it, and it still accepts files, so that adding cannot fail. */
function ownerOf({ table }: Kernel, self: Owner, pid: Pid): Owner {
  const owner = pid === self.pid ? self : table.require(self.pid, pid, "Pipe", "control");
  if (owner.isLive && !owner.fds.isEnded) return owner;
  const message = `process has ended: ${pid}`;
  throw new SyscallError({ syscall: "Pipe", pid: self.pid, code: "NOT_FOUND", message });
}
