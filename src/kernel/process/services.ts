/** Service processes: children of pid 0 that hold a resource for other processes, stopped once it is unused. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { SIGNALS } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import type { ServiceSpec, Services } from "../ports/services.ts";
import { reapProcess } from "./end/reap.ts";
import { serviceBody } from "./service-body.ts";
import { spawnBody } from "./spawn/spawn.ts";

export class ServiceTable implements Services {
  readonly #core: () => Core;

  constructor(core: () => Core) {
    this.#core = core;
  }

  async start(spec: ServiceSpec): Promise<Pid> {
    const core = this.#core();
    const { root } = core;
    const request = { caller: root, intent: spec.intent, body: serviceBody(spec), opts: {} };
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
