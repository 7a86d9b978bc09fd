/** A replica of a service as a child of the project's supervisor. */
import type { ComposeService } from "../../abi/compose/compose.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { CheckedChild, CheckedStart } from "../spec.ts";

/** `env`: the client's, for the credentials of models and for what commands inherit. */
export function childOf(
  service: ComposeService,
  n: number,
  env: Readonly<Record<string, string>>,
): CheckedChild {
  return {
    id: `${service.name}-${n}`,
    start: startOf(service, { ...env, CRUX_REPLICA: String(n) }),
    restart: service.restart,
    shutdown: service.shutdownMs,
  };
}

function startOf(service: ComposeService, env: Readonly<Record<string, string>>): CheckedStart {
  const { program, cwd, group, permissionMode, budgetTokens, budgetUsd, timeoutMs } = service;
  const common: SpawnOpts = {
    cwd,
    env,
    contextBudget: budgetTokens,
    ...(budgetUsd === undefined ? {} : { budget: { usd: budgetUsd } }),
    ...(group === undefined ? {} : { group }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
  };
  if (program.kind === "native") {
    const options = { cwd, env: service.env, timeoutMs };
    return { kind: "native", command: program.command, options, opts: common };
  }
  const opts: SpawnOpts = {
    ...common,
    env: { ...env, ...service.env },
    model: service.model ?? "",
    systemPrompt: service.systemPrompt ?? "",
    maxTurns: service.maxSteps,
    timeoutMs,
  };
  return { kind: "agent", agent: program.agent, intent: program.intent, opts };
}

/** In place of one that is not started as it was. */
export function heldChild(id: string, reason: string): CheckedChild {
  return { id, start: { kind: "withheld", reason }, restart: "temporary", shutdown: 0 };
}
