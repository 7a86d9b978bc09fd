/**
 * An agent that leads a team, and children of every kind below it: one that it waits for, one in the background, a member, one in a
 * worktree, and one that waits to begin and has a child of its own. All follow their steps as a careful model does: told that the
 * outcome of a call is unknown it looks, and repeats only what did not happen. So it comes to its end over any number of crashes.
 */
import { type Reply, text, toolUse } from "../model-server/reply.ts";
import type { ModelRequest } from "../model-server/request.ts";
import { userTexts } from "../model-server/request.ts";

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Calls of one reply. `look`: finds out whether it has happened, for one that must not happen twice. */
interface Step {
  readonly calls: readonly Call[];
  readonly look?: Call;
  readonly hasHappened?: (seen: string) => boolean;
}

interface Part {
  readonly steps: readonly Step[];
  readonly last: string;
}

/** How many children an agent of a team has at once: the others wait to begin. */
export const AT_ONCE = 3;
/** Those whose end is told by a message. */
const IN_BACKGROUND = ["back", "tree", "late"] as const;
/** All below the lead. */
export const BELOW = ["fore", "ann", ...IN_BACKGROUND, "deep"] as const;
/** Each writes one line to the ledger. */
export const WRITERS = ["fore", "back", "ann", "late", "deep"] as const;

const used = (tool: string, params: object): Call => ({ name: "tool_call", input: { tool, params } });
const shell = (command: string): Call => ({ name: "bash", input: { command } });
const isOne = (seen: string): boolean => seen.trim().startsWith("1");

/** What a program sleeps, in seconds, that was left behind and that names nobody: so it is found all the same. */
export const NAP = `3000.${process.pid}`;

/** Leaves a program behind, and takes a moment, so that some are cut off in it. */
function line(words: string, file: string): Step {
  const command = `env -i setsid -f sleep ${NAP}; echo ${words} >> ${file}; sleep 0.03`;
  return {
    calls: [shell(command)],
    look: shell(`grep -cx ${words} ${file} || true`),
    hasHappened: isOne,
  };
}

function child(run: number, who: string, more: object = {}): Call {
  return { name: "agent", input: { description: `is ${who}`, prompt: `${who} ${run}`, ...more } };
}

/** What `who` does in the run of that number; undefined: it is nobody's part. */
function partOf(who: string, run: number, request: ModelRequest): Part | undefined {
  const own = line(`${who}-${run}`, "ledger");
  const beyond: Step = { calls: [{ name: "write", input: { file_path: `beyond-${run}`, content: "x" } }] };
  const done = { last: `${who} is done.` };
  if (who === "lead") return leadOf(run);
  if (who === "fore") return { steps: [beyond, own], ...done };
  if (who === "back" || who === "deep") return { steps: [own], ...done };
  if (who === "late") return { steps: [own, { calls: [child(run, "deep")] }], ...done };
  if (who === "tree") return { steps: [line(`tree-${run}`, "grown")], ...done };
  if (who !== "ann") return undefined;
  // its number is no longer 1 where a daemon died before it wrote the task, and after it took that number
  const list = used("task_list", {});
  const id = idIn(callsOf(request).find(({ call }) => isSame(call, list))?.result ?? "", run);
  const task = (status: string): Step => ({ calls: [used("task_update", { task_id: id, status })] });
  return { steps: [{ calls: [list] }, task("in_progress"), own, beyond, task("completed")], ...done };
}

function idIn(list: string, run: number): string {
  return new RegExp(`^(\\d+) \\[.*\\] One ${run}$`, "m").exec(list)?.[1] ?? "1";
}

function leadOf(run: number): Part {
  const tasks = used("task_list", {});
  const team: Step = { calls: [used("team_create", { team_name: `crew-${run}` })] };
  const alone = { run_in_background: true };
  const task: Step = {
    calls: [used("task_create", { subject: `One ${run}`, description: "" })],
    look: tasks,
    hasHappened: (seen) => seen.includes(`One ${run}`),
  };
  const family: Step = {
    calls: [
      child(run, "fore", { subagent_type: "narrow" }),
      child(run, "back", alone),
      child(run, "ann", { name: "ann", subagent_type: "narrow" }),
      child(run, "tree", { ...alone, isolation: "worktree" }),
      child(run, "late", alone),
    ],
  };
  const ends: Step = { calls: [tasks, used("stop", { to: "ann" }), used("team_delete", {})] };
  return { steps: [team, task, family, ends], last: "All is over." };
}

/** Words of the user and of the kernel, as the model reads them. */
export const told = ({ messages }: ModelRequest): string =>
  messages.flatMap((message) => (message.role === "user" ? userTexts(message) : [])).join("\n");

/** Who is asked, and in which run. */
export function askedIn(request: ModelRequest): { readonly who: string; readonly run: number } | undefined {
  const found = /^(lead|fore|back|ann|tree|late|deep) (\d+)\b/.exec(told(request));
  return found === null ? undefined : { who: found[1]!, run: Number(found[2]) };
}

/** The calls of a conversation with their results, in the order of the calls. */
export function callsOf({
  messages,
}: ModelRequest): readonly { readonly call: Call; readonly result: string }[] {
  const blocks = messages.flatMap(({ content }) => content);
  const results = new Map(
    blocks.flatMap((block) => (block.type === "tool_result" ? [[block.id, block.content] as const] : [])),
  );
  return blocks.flatMap((block) => {
    if (block.type !== "tool_use") return [];
    const call: Call = { name: block.name, input: (block.input ?? {}) as Call["input"] };
    return [{ call, result: results.get(block.id) ?? "" }];
  });
}

const isSame = (a: Call, b: Call): boolean => JSON.stringify(a) === JSON.stringify(b);
const isUnknown = (result: string): boolean => result.includes("outcome unknown");
/** A daemon that was killed in a write holds the lock of the list until the disk lets it go. */
const isNothing = (result: string): boolean =>
  /before anything was written|locked by another program/.test(result);

/** How many steps are behind, and what is to be done about the next one. */
function progress(
  { steps }: Part,
  request: ModelRequest,
): { readonly at: number; readonly next: readonly Call[] } {
  let at = 0;
  let next = steps[0]?.calls ?? [];
  const goOn = (): void => {
    at++;
    next = steps[at]?.calls ?? [];
  };
  const open = new Map<Call, string>();
  for (const { call, result } of callsOf(request)) {
    const step = steps[at];
    if (step === undefined) break;
    if (step.look !== undefined && isSame(call, step.look)) {
      if (isUnknown(result)) continue;
      if (step.hasHappened?.(result) === true) goOn();
      else next = step.calls;
      continue;
    }
    const own = step.calls.find((each) => isSame(each, call));
    if (own === undefined) continue;
    open.set(own, result);
    const left = step.calls.filter((each) => {
      const had = open.get(each);
      return had === undefined || isUnknown(had) || isNothing(had);
    });
    if (left.length === 0) goOn();
    else next = isUnknown(result) && step.look !== undefined ? [step.look] : left;
  }
  return { at, next };
}

export const endsTold = (request: ModelRequest): readonly string[] =>
  [...told(request).matchAll(/<summary>Agent "is (\w+)" (\w+)/g)].map(
    ([, who = "", how = ""]) => `${who} ${how}`,
  );
export const restsTold = (request: ModelRequest): number =>
  told(request).match(/"idle_notification"/g)?.length ?? 0;

/** The answer of whoever is asked. */
export function answerTo(request: ModelRequest): Reply {
  const asked = askedIn(request);
  const part = asked === undefined ? undefined : partOf(asked.who, asked.run, request);
  if (part === undefined) throw new Error(`nobody plays ${told(request).slice(0, 200)}`);
  const { at, next } = progress(part, request);
  const isWaiting = asked?.who === "lead" && at === part.steps.length - 1;
  const ended = new Set(endsTold(request).map((each) => each.split(" ")[0]));
  if (isWaiting && !(IN_BACKGROUND.every((who) => ended.has(who)) && restsTold(request) > 0))
    return text("Waiting.");
  return next.length === 0 ? text(part.last) : toolUse([...next]);
}
