/** A project in the keys of its file, every default written out: parsed again, it is the same project. */
import type { ComposeProject, ComposeService, Readiness } from "./compose.ts";

export function resolvedComposeFile(project: ComposeProject): Readonly<Record<string, unknown>> {
  const { intensity, backoff, pipes, messages } = project;
  return {
    name: project.name,
    ...budgetOf(project),
    intensity: { max_restarts: intensity.maxRestarts, window_ms: intensity.windowMs },
    backoff: {
      initial_ms: backoff.initialMs,
      factor: backoff.factor,
      max_ms: backoff.maxMs,
      jitter: backoff.jitter,
    },
    services: Object.fromEntries(project.services.map((service) => [service.name, entryOf(service)])),
    ...(pipes.length === 0 ? {} : { pipes: pipes.map(({ from, to, stream }) => ({ from, to, stream })) }),
    messages,
  };
}

function entryOf(service: ComposeService) {
  const { model, systemPrompt, permissionMode, ready, group } = service;
  const conditions = Object.entries(service.dependsOn).map(([name, condition]) => [name, { condition }]);
  return {
    ...programOf(service),
    ...(model === undefined ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { system_prompt: systemPrompt }),
    timeout_ms: service.timeoutMs,
    ...(permissionMode === undefined ? {} : { permission_mode: permissionMode }),
    cwd: service.cwd,
    ...budgetOf(service),
    ...(conditions.length === 0 ? {} : { depends_on: Object.fromEntries(conditions) }),
    ...(ready === undefined ? {} : { ready: readyOf(ready) }),
    ...(group === undefined ? {} : { group }),
    restart: service.restart,
    replicas: service.replicas,
    shutdown_ms: service.shutdownMs,
  };
}

function programOf({ program, maxSteps, env }: ComposeService) {
  if (program.kind === "native") return { command: program.command, env };
  const { agent, intent } = program;
  return { agent, intent, max_steps: maxSteps };
}

function readyOf(ready: Readiness) {
  const { timeoutMs: timeout_ms } = ready;
  return ready.kind === "stdout" ? { stdout: ready.pattern, timeout_ms } : { timeout_ms };
}

function budgetOf({ budgetTokens, budgetUsd }: Pick<ComposeProject, "budgetTokens" | "budgetUsd">) {
  const tokens = budgetTokens === 0 ? {} : { tokens: budgetTokens };
  const budget = { ...tokens, ...(budgetUsd === undefined ? {} : { usd: budgetUsd }) };
  return Object.keys(budget).length === 0 ? {} : { budget };
}
