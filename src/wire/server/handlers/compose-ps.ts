import type { ReplicaView } from "../../../abi/compose.ts";
import { Fault } from "../../../abi/errors.ts";
import type { Handler } from "../handler.ts";

/** Of a project that runs; one that has ended is remembered for its logs alone. */
export const composePs: Handler<"compose.ps"> = async ({ project }, { kernel }) => {
  const view = kernel.projects.view(project);
  const procs = await kernel.init.listProcs();
  if (procs.find(({ pid }) => pid === view.pid)?.state !== "running")
    throw new Fault({
      code: "NOT_FOUND",
      message: `no project ${project} is running`,
      hint: "crux compose logs shows what it wrote",
    });
  return { payload: { project: view.project, pid: view.pid, services: view.replicas.map(toWire) } };
};

/** Keys in the order of `compose ps --json`. */
function toWire(view: ReplicaView) {
  return {
    service: view.service,
    replica: view.replica,
    pid: view.pid,
    state: view.state,
    exit_code: view.exitCode,
    restarts: view.restarts,
    tokens_used: view.tokensUsed,
    elapsed_ms: Math.floor(view.elapsedMs),
    ...(view.note === undefined ? {} : { note: view.note }),
  };
}
