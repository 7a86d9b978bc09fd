/** Service processes: children of pid 0 that hold a resource for other processes, stopped once it is unused. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { SIGNALS, type Signal } from "../../abi/process.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { ServiceSpec, Services } from "../ports/services.ts";
import type { Body } from "./body.ts";
import { type Reaping, reapProcess } from "./end/reap.ts";
import type { Process } from "./process.ts";
import { type Spawning, spawnBody } from "./spawn/spawn.ts";

/** What starting and stopping services needs of the kernel. */
type Serving = Spawning &
  Reaping & { readonly root: Process; deliver(proc: Process, signal: Signal): Promise<unknown> };

export class ServiceTable implements Services {
  readonly #core: () => Serving;

  constructor(core: () => Serving) {
    this.#core = core;
  }

  async start(spec: ServiceSpec): Promise<Pid> {
    const core = this.#core();
    const { root } = core;
    const request = { caller: root, intent: spec.intent, body: serviceBody(core.ports, spec), opts: {} };
    const proc = await spawnBody(core, request, root.abort.signal);
    return proc.pid;
  }

  async stop(pid: Pid): Promise<void> {
    const core = this.#core();
    const proc = core.table.get(pid);
    if (proc === undefined || proc.ppid !== PID_KERNEL || proc.seed.kind !== "service") return;
    await core.deliver(proc, SIGNALS.SIGTERM);
    await proc.done.promise;
    await reapProcess(core, proc);
  }
}

/** Runs a helper of the kernel as a process, so that it is listed, owned and ended like any other. */
function serviceBody({ clock }: Pick<KernelPorts, "clock">, spec: ServiceSpec): Body {
  return {
    kind: "service",
    name: spec.name,
    agent: null,
    isActive: false,
    prepare: async () => {},
    run: (proc) =>
      spec.run({
        pid: proc.pid,
        signal: proc.abort.signal,
        killed: proc.killed.signal,
        log: (level, message) => proc.log(level, message, clock.mono()),
      }),
  };
}
