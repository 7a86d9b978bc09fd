/**
 * Errors as lines of the wire, and the one place where the kernel's facts become words of the command line. The server
 * fills `hint` with these words for clients that do not know the facts.
 */
import { isErrorCode } from "../../abi/errno.ts";
import {
  ContextError,
  codeOf,
  DriverError,
  Fault,
  factOf,
  messageOf,
  SyscallError,
  VfsError,
  type WireError,
} from "../../abi/errors.ts";
import type { Fact, Notice, Remedy } from "../../abi/fact.ts";
import { shellWord } from "../../lib/shell-word.ts";

export function toWireError(error: unknown): WireError {
  const wire: WireError = { code: codeOf(error), message: messageOf(error) };
  if (error instanceof SyscallError) wire.syscall = error.syscall;
  else if (error instanceof VfsError || error instanceof DriverError || error instanceof ContextError)
    wire.syscall = error.op;
  if (!(error instanceof Fault)) return wire;
  if (error.device !== undefined) wire.device = error.device;
  if (error instanceof SyscallError || error instanceof VfsError) wire.pid = error.pid;
  return { ...wire, ...guidance(error.hint, factOf(error)), ...detailsOf(error) };
}

function guidance(hint: string | undefined, fact: Fact | undefined): Pick<WireError, "hint" | "fact"> {
  const words = hint ?? (fact && nextStep(fact));
  return { ...(words === undefined ? {} : { hint: words }), ...(fact === undefined ? {} : { fact }) };
}

/** The printed form of an error received over the wire. */
export function printedWire(wire: WireError): string {
  const code = isErrorCode(wire.code) ? wire.code : "INTERNAL";
  const place =
    wire.syscall === undefined ? "" : `${wire.pid === undefined ? "" : `PID ${wire.pid} `}${wire.syscall}: `;
  const what = wire.device === undefined ? wire.message : `${wire.device} (${wire.message})`;
  return `[${code}] ${place}${what}`;
}

/** The details of a fault; for a reached limit they also name the command that raises it. */
function detailsOf({ details, fact }: Fault): Pick<WireError, "details"> {
  if (details === undefined) return {};
  return { details: fact?.kind === "limit_reached" ? { ...details, raise: raiseCommand(fact) } : details };
}

/** What to type next; undefined: no command helps, or the fact comes from a newer version. */
export function nextStep(fact: Fact): string | undefined {
  const worded = NEXT_STEPS[fact.kind] as ((fact: Fact) => string) | undefined;
  return worded?.(fact);
}

/** The notice in one line, with what to type next. */
export function noticeLine({ message, fact }: Notice): string {
  const next = fact && nextStep(fact);
  return next === undefined ? message : `${message}; ${next}`;
}

const NEXT_STEPS: { readonly [K in Fact["kind"]]: (fact: Extract<Fact, { kind: K }>) => string } = {
  no_process: () => "crux ps lists the processes",
  no_history: () => "crux ps shows those that run, crux sessions those that rest",
  ended: ({ pid }) => `crux logs ${pid} shows what it did`,
  running: ({ pid }) => `crux pause ${pid} holds it`,
  paused: ({ pid }) => `crux cont ${pid} resumes it, crux attach ${pid} shows it, crux kill ${pid} ends it`,
  resting: ({ pid }) => `crux -r ${pid} continues it, crux kill ${pid} ends it`,
  stopped: ({ pid }) => `crux resume ${pid} resumes it`,
  unread: ({ pid }) => `crux fsck ${pid} checks it, crux cont ${pid} resumes it`,
  unsure: () => "crux daemon restart; then crux ps shows whether it is there",
  no_job: ({ pid }) => `crux jobs ${pid} lists them`,
  no_limit: () => "crux budget set makes one",
  no_group: () => "crux groups lists the groups",
  no_agent: () => "leave out --agent for the default agent",
  no_project: () => "crux compose up starts it",
  project_ended: () => "crux compose up brings it up again",
  project_down: () => "crux compose up starts it, crux compose logs shows what it wrote",
  no_grant: () => "crux grants lists them; of a session that rests: crux grants <pid>",
  not_mounted: () => "crux mcp list shows what is mounted",
  path_taken: () => "crux umount takes it away; or choose another name",
  grants_full: () => "crux grants lists them; crux grants rm <id> takes one back",
  files_forgotten: () => "crux steps shows later ones; without --files there is no such limit",
  model_unfit: () => "name another model with --model, or another mode with --permission-mode",
  mode_at_start: () => "start another with: crux --dangerously-skip-permissions",
  journal_lost: () => "crux daemon restart",
  stopping: () => "crux ps starts it again and shows what it recovered",
  damaged: ({ pid }) => `crux fsck${pid === null ? "" : ` ${pid}`} shows what is damaged`,
  disk: ({ reason, path }) => diskStep(reason, path),
  needs_approval: ({ remedy }) =>
    remedy === null ? "run crux on a terminal to be asked" : `to allow it: ${flagsOf(remedy)}`,
  above_ceiling: ({ pid, mode }) => `the user can: crux mode ${pid} ${mode}`,
  limit_reached: (limit) => `to raise it: ${raiseCommand(limit)}`,
  no_tree_path: () => "crux ls / shows the tree",
  tree_file: ({ path }) => `crux cat ${shellWord(path)}`,
  host_file: ({ path }) => `cat ${shellWord(path)}`,
  bad_recording: () => "crux journal <pid> --json --with-prefix > file writes one",
  trust_full: () => "crux trust list shows them, crux trust remove <dir> takes one away",
  journal_in_use: () => "crux daemon stop; without --repair a running daemon can be asked",
  no_setting: ({ near }) => (near === null ? "crux config list --all names them" : `did you mean ${near}?`),
  own_setting: ({ key }) => `crux config set ${key} … writes your own`,
  no_model: ({ model, ways }) => modelStep(model, ways),
  cut_off: ({ method }) => CUT_OFF[method] ?? "crux ps shows what it came to",
  daemon_silent: () => "crux daemon restart --force",
  daemon_late: () => "crux daemon start tries again",
  safe_mode: () => "crux daemon start --normal leaves it",
  other_version: () => "crux daemon restart",
  untrusted: ({ folder }) => `look at it and trust it: crux trust ${shellWord(folder)}`,
};

/** How to see whether a request that was cut off took effect. */
const CUT_OFF: Readonly<Record<string, string>> = {
  spawn: "crux ps shows whether it was, before you start it again",
  "process.fork": "crux ps and crux sessions show whether it was, before you fork again",
  "process.rewind": "crux rewind --dry-run shows what is left to do, crux sessions a fork",
  "process.resume": "crux ps shows whether it was",
  "mail.send": "crux logs <pid> shows what it has read, before you send it again",
  "session.say": "crux -r <pid> shows whether it was, before you send it again",
  "compose.up": "crux compose ps shows whether it was, before you start it again",
  "mcp.mount": "crux mcp list shows whether it was",
  "mcp.unmount": "crux mcp list shows whether it was",
  "ask.answer": "crux attach <pid> shows whether the question is still open",
  "group.join": "crux groups shows who is in it",
  "group.leave": "crux groups shows who is in it",
};

function modelStep(model: string, ways: readonly string[]): string {
  const servers = [`For a server of your own: OPENAI_BASE_URL, OPENAI_API_KEY and --model openai/${model}.`];
  return [...(ways.length > 0 ? ways : servers), "crux doctor shows what is set up."].join(" ");
}

function diskStep(reason: string, path: string): string {
  if (reason === "journal_full") return `free some space on the file system of ${path}`;
  return reason === "journal_readonly" ? `make ${path} writable again` : `check the disk of ${path}`;
}

function raiseCommand({ pid, unit, need }: Extract<Fact, { kind: "limit_reached" }>): string {
  return `crux budget set ${pid} --${unit} ${need}`;
}

/** The command-line flags that allow it, shell-quoted. */
export function flagsOf(remedy: Remedy): string {
  if ("mode" in remedy) return `--permission-mode ${remedy.mode}`;
  return remedy.rules.map((rule) => `--allow ${shellWord(rule)}`).join(" ");
}
