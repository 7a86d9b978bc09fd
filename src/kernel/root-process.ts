/** pid 0: the process of the kernel itself and of the user's clients. It is not in the table and runs no program. */
import { PID_KERNEL } from "../abi/ids.ts";
import { EXIT } from "../abi/process.ts";
import { ALL_RIGHTS } from "../abi/rights.ts";
import { rootAccount } from "./account/root-account.ts";
import { KERNEL_UUID } from "./ports/journal.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { Body } from "./process/body.ts";
import { Process } from "./process/process.ts";
import { Session } from "./process/session.ts";

const INIT: Body = {
  kind: "service",
  name: "init",
  agent: null,
  isActive: false,
  prepare: async () => {},
  run: async () => EXIT.completed,
};

export function makeRoot(ports: KernelPorts): Process {
  const init = new Process(
    {
      pid: PID_KERNEL,
      uuid: KERNEL_UUID,
      kind: "service",
      body: INIT,
      intent: "init",
      agent: null,
      skills: [],
      createdAt: new Date(ports.clock.now()),
      createdMono: ports.clock.mono(),
      cwd: ports.home,
      roots: [ports.home],
      scratch: "",
      env: ports.env,
      mode: "bypass",
      rights: ALL_RIGHTS,
      line: [],
      maxSteps: 0,
      account: rootAccount(ports),
      session: new Session(null),
      onParentExit: "reparent",
    },
    PID_KERNEL,
  );
  // Clients come and go for days: pid 0 is not traced, and nothing is queued for it.
  init.closeChannels();
  init.start(ports.clock.mono());
  return init;
}
