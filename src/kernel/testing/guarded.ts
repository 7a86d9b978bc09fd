/** One process with a message file at /bin/edit and one at /dev/fs, for tests of the guard. */
import type { Act } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import type { ProcessEvent } from "../../abi/events.ts";
import type { Fd, Pid } from "../../abi/ids.ts";
import type { SpawnOpts, Sys, Syscalls } from "../../abi/sys.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Subscription } from "../ports/subscription.ts";
import type { Process } from "../process/process.ts";
import { MessageDevice } from "./fake-devices.ts";
import { bytes, type TestKernel, testKernel } from "./test-kernel.ts";

export const modify = (path: string): Effect => ({ kind: "write", path, change: "modify" });

export interface GuardedBench {
  readonly t: TestKernel;
  readonly pid: Pid;
  readonly proc: Process;
  readonly sys: Sys;
  readonly events: Subscription<ProcessEvent>;
  readonly tool: MessageDevice;
  readonly files: MessageDevice;
  readonly fd: Fd;
  /** Writes to the tool's file. */
  call(): Promise<void>;
  /** What the tool does when it is called. */
  acts(act: (sys: Syscalls, act: Act) => Promise<void>): void;
}

/** The tool declares that it modifies /desk/a, `once`. */
export async function guardedBench(
  opts: SpawnOpts = {},
  ports: Partial<KernelPorts> = {},
): Promise<GuardedBench> {
  const t = testKernel(ports);
  const [tool, files] = [new MessageDevice("edit"), new MessageDevice("fs")];
  t.kernel.mount("/bin/edit", tool);
  t.kernel.mount("/dev/fs", files);
  tool.script.effects = [modify("/desk/a")];
  files.script.effects = [modify("/desk/a")];
  const made = Promise.withResolvers<Sys>();
  t.programs.set("work", (sys) => {
    made.resolve(sys);
    return new Promise((_resolve, reject) =>
      sys.ending.addEventListener("abort", () => reject(sys.ending.reason)),
    );
  });
  const { pid, events } = await t.kernel.spawnWatched("work", null, opts);
  const sys = await made.promise;
  const fd = await sys.open("/bin/edit", 2);
  return {
    t,
    pid,
    proc: t.proc(pid),
    sys,
    events,
    tool,
    files,
    fd,
    call: () => sys.write(fd, bytes("{}")),
    acts: (act) => {
      tool.script.act = (_data, hands) => act(hands.sys, hands);
    },
  };
}
