import type { ReplicaView } from "../../../../abi/compose/compose.ts";
import { Fault } from "../../../../abi/errors.ts";
import type { Handler } from "../../handler.ts";

/** Shows a running project. One that has failed is NOT_FOUND too, but the error has the final state of its services. */
export const composePs: Handler<"compose.ps"> = async ({ project }, { kernel }) => {
  const view = kernel.projects.view(project);
  const procs = await kernel.init.listProcs();
  const payload = { project: view.project, pid: view.pid, services: view.replicas.map(toWire) };
  if (procs.find(({ pid }) => pid === view.pid)?.state === "running") return { payload };
  const { failure } = view;
  throw new Fault({
    code: "NOT_FOUND",
    message: `no project ${project} is running${failure === undefined ? "" : `: it has failed: ${failure}`}`,
    fact: { kind: "project_down" },
    ...(failure === undefined ? {} : { details: payload }),
  });
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
