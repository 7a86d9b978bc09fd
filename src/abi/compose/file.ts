/** Converts a parsed crux.compose.yaml, its variables filled in, to the project that the kernel runs. */
import { posix } from "node:path";
import { DEFAULT_AGENT } from "../agent.ts";
import { checkComposeFile, streamOf } from "./check.ts";
import type { ComposePipe, ComposeProject, ComposeService, Readiness } from "./compose.ts";
import { invalid, toComposeFault } from "./issue.ts";
import { PROJECT_NAME, projectNameOf } from "./name.ts";
import { ComposeFile, composeKeysAt, DEFAULT_READY_MS, type ServiceEntry } from "./schema.ts";

interface ComposePlace {
  /** The absolute base of relative paths; its last segment is the default project name. */
  readonly dir: string;
  /** Overrides the name in the file. */
  readonly project?: string | undefined;
}

/** INVALID with the path of the first error; nothing may be started then. */
export function parseComposeFile(raw: unknown, place: ComposePlace): ComposeProject {
  const parsed = ComposeFile.safeParse(raw);
  if (!parsed.success) throw toComposeFault(parsed.error, raw, composeKeysAt);
  const file = parsed.data;
  checkComposeFile(file);
  return {
    name: nameOf(file, place),
    ...budgetOf(file.budget),
    intensity: { maxRestarts: file.intensity.max_restarts, windowMs: file.intensity.window_ms },
    backoff: {
      initialMs: file.backoff.initial_ms,
      factor: file.backoff.factor,
      maxMs: file.backoff.max_ms,
      jitter: file.backoff.jitter,
    },
    services: Object.keys(file.services).map((name) => serviceOf(name, file, place.dir)),
    pipes: file.pipes.map(
      (pipe): ComposePipe => ({ from: pipe.from, to: pipe.to, stream: streamOf(pipe, file) }),
    ),
    messages: file.messages,
  };
}

function nameOf(file: ComposeFile, { dir, project }: ComposePlace): string {
  if (project !== undefined && !PROJECT_NAME.test(project))
    throw invalid(
      `project name ${project}: must be small letters, digits, _ and -, a letter first, at most 64 characters`,
    );
  return project ?? file.name ?? projectNameOf(dir);
}

function serviceOf(name: string, file: ComposeFile, dir: string): ComposeService {
  const entry = file.services[name] as ServiceEntry;
  const ready = readinessOf(name, entry, file);
  const { model, system_prompt: systemPrompt, permission_mode: permissionMode, group } = entry;
  return {
    name,
    program: programOf(entry),
    ...(model === undefined ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    maxSteps: entry.max_steps,
    timeoutMs: entry.timeout_ms,
    ...(permissionMode === undefined ? {} : { permissionMode }),
    cwd: posix.resolve(dir, entry.cwd ?? "."),
    env: entry.env,
    ...budgetOf(entry.budget),
    dependsOn: entry.depends_on,
    ...(ready === undefined ? {} : { ready }),
    ...(group === undefined ? {} : { group }),
    restart: entry.restart,
    replicas: entry.replicas,
    shutdownMs: entry.shutdown_ms,
  };
}

function programOf({ agent = DEFAULT_AGENT, intent = "", command }: ServiceEntry): ComposeService["program"] {
  if (command !== undefined) return { kind: "native", command };
  return { kind: "agent", agent, intent };
}

function budgetOf({ tokens = 0, usd }: ComposeFile["budget"]) {
  return { budgetTokens: tokens, ...(usd === undefined ? {} : { budgetUsd: usd }) };
}

/** Readiness of a service; a default applies if other services wait until it is ready. */
function readinessOf(
  name: string,
  { ready }: ServiceEntry,
  { services }: ComposeFile,
): Readiness | undefined {
  if (ready?.stdout !== undefined)
    return { kind: "stdout", pattern: ready.stdout, timeoutMs: ready.timeout_ms };
  if (ready !== undefined) return { kind: "step", timeoutMs: ready.timeout_ms };
  const isAwaited = Object.values(services).some(({ depends_on }) => depends_on[name] === "ready");
  return isAwaited ? { kind: "step", timeoutMs: DEFAULT_READY_MS } : undefined;
}
