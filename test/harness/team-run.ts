/**
 * An agent that leads a team of four, and children of every kind below it: three members, one of which fails with its task in hand
 * and one of which is written to by another, one that it waits for, one in the background, one in a worktree, and one that waits to
 * begin and has a child of its own. All follow their steps as a careful model does: told that the outcome of a call is unknown it
 * looks, and repeats only what did not happen. So it comes to its end over any number of crashes.
 */
import { error, type Reply, text, toolUse } from "../model-server/reply.ts";
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
  /** Nobody here can see whether it has happened: its outcome may stay unknown. */
  readonly isOnce?: true;
}

interface Part {
  readonly steps: readonly Step[];
  /** null: the model answers no more. */
  readonly last: string | null;
}

/** How many children an agent of a team has at once: the others wait to begin. */
export const AT_ONCE = 5;
/** Those whose end is told by a message. */
const IN_BACKGROUND = ["back", "tree", "late"] as const;
/** Each takes the task of its place in the list. */
const MEMBERS = ["ann", "bob", "cay"] as const;
export const TASKS = ["One", "Two", "Three"] as const;
/** All below the lead. */
export const BELOW = ["fore", ...MEMBERS, ...IN_BACKGROUND, "deep"] as const;
/** Each writes one line to the ledger. */
export const WRITERS = ["fore", "back", ...MEMBERS, "late", "deep"] as const;

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
  if (who === "lead") return leadOf(run, request);
  if (who === "fore") return { steps: [beyond, own], ...done };
  if (who === "back" || who === "deep") return { steps: [own], ...done };
  if (who === "late") return { steps: [own, { calls: [child(run, "deep")] }], ...done };
  if (who === "tree") return { steps: [line(`tree-${run}`, "grown")], ...done };
  const at = (MEMBERS as readonly string[]).indexOf(who);
  if (at < 0) return undefined;
  const task = taskOf(`${TASKS[at]} ${run}`, request);
  const taken = [{ calls: [LIST] }, task("in_progress"), own];
  if (who === "cay") return { steps: taken, last: null };
  const word: Step = { calls: [used("send", { to: "bob", message: wordOf(run) })], isOnce: true };
  const steps = [...taken, beyond, ...(who === "ann" ? [word] : []), task("completed")];
  if (who === "ann") return { steps, last: hasSent(request) ? done.last : UNSURE };
  return { steps, last: told(request).includes(wordOf(run)) ? HAS_WORD : done.last };
}

/** What Ann writes to Bob. */
export const wordOf = (run: number): string => `the word of ${run}.`;
/** What Bob says once he has it, and Ann where she cannot know that it was sent. */
const HAS_WORD = "bob has the word.";
const UNSURE = "ann does not know of the word.";

export function hasSent(request: ModelRequest): boolean {
  return callsOf(request).some(
    ({ call, result }) => call.input.tool === "send" && result.includes("Sent to"),
  );
}

const LIST = used("task_list", {});

/** Its number is not that of its place where a daemon died before it wrote the task, and after it took that number. */
function taskOf(subject: string, request: ModelRequest): (status: string) => Step {
  const lists = callsOf(request).flatMap(({ call, result }) =>
    call.input.tool === "task_list" ? [result] : [],
  );
  const id = new RegExp(`^(\\d+) \\[.*\\] ${subject}$`, "m").exec(lists.join("\n"))?.[1] ?? "1";
  return (status) => ({ calls: [used("task_update", { task_id: id, status })] });
}

function leadOf(run: number, request: ModelRequest): Part {
  const team: Step = { calls: [used("team_create", { team_name: `crew-${run}` })] };
  const alone = { run_in_background: true };
  const tasks = TASKS.map((name): Step => {
    const subject = `${name} ${run}`;
    return {
      calls: [used("task_create", { subject, description: "" })],
      look: LIST,
      hasHappened: (seen) => seen.includes(subject),
    };
  });
  const member = (who: string): Call => child(run, who, { name: who, subagent_type: "narrow" });
  const family: Step = {
    calls: [
      child(run, "fore", { subagent_type: "narrow" }),
      child(run, "back", alone),
      ...MEMBERS.map(member),
      child(run, "tree", { ...alone, isolation: "worktree" }),
      child(run, "late", alone),
    ],
  };
  // what the one that failed had taken is free again
  const left = taskOf(`Three ${run}`, request);
  const stops = ["ann", "bob"].map((to) => used("stop", { to }));
  const ends: Step = { calls: [LIST, ...stops, used("team_delete", {})] };
  const rest = [
    { calls: [used("task_list", { status: "pending" })] },
    left("in_progress"),
    left("completed"),
    ends,
  ];
  return { steps: [team, ...tasks, family, ...rest], last: "All is over." };
}

/** The steps of the lead that come once everybody has done what they do. */
const LATE_STEPS = 4;

/** Words of the user and of the kernel, as the model reads them. */
export const told = ({ messages }: ModelRequest): string =>
  messages.flatMap((message) => (message.role === "user" ? userTexts(message) : [])).join("\n");

/** Who is asked, and in which run. */
export function askedIn(request: ModelRequest): { readonly who: string; readonly run: number } | undefined {
  const found = /^(lead|fore|back|ann|bob|cay|tree|late|deep) (\d+)\b/.exec(told(request));
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
      return had === undefined || (isUnknown(had) && step.isOnce !== true) || isNothing(had);
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
/** What members have said as they came to rest. */
export const restsTold = (request: ModelRequest): readonly string[] =>
  [...told(request).matchAll(/"idle_notification"[^{}]*"summary":"([^"]*)"/g)].map(([, words = ""]) => words);
/** The tasks that were free again as their owner ended. */
export const freedTold = (request: ModelRequest): readonly string[] =>
  [...told(request).matchAll(/has ended; its unfinished tasks are pending again: (.*)/g)].map(
    ([, what = ""]) => what,
  );

/** The answer of whoever is asked. */
export function answerTo(request: ModelRequest): Reply {
  const asked = askedIn(request);
  const part = asked === undefined ? undefined : partOf(asked.who, asked.run, request);
  if (part === undefined) throw new Error(`nobody plays ${told(request).slice(0, 200)}`);
  const { at, next } = progress(part, request);
  const isWaiting = asked?.who === "lead" && at === part.steps.length - LATE_STEPS;
  if (isWaiting && !areDone(request)) return text("Waiting.");
  if (next.length > 0) return toolUse([...next]);
  return part.last === null ? error(400, "invalid_request_error", "it answers no more") : text(part.last);
}

/** Whether all below the lead have done what they do by themselves, as it was told. */
function areDone(request: ModelRequest): boolean {
  const ended = new Set(endsTold(request).map((each) => each.split(" ")[0]));
  const rests = restsTold(request);
  const isSaid =
    rests.includes(HAS_WORD) || (rests.includes(UNSURE) && rests.some((words) => words.startsWith("bob")));
  const areRested = rests.some((words) => words.startsWith("ann")) && isSaid;
  return (
    [...IN_BACKGROUND, "cay"].every((who) => ended.has(who)) && areRested && freedTold(request).length > 0
  );
}
