import { expect, test } from "vitest";
import type { WireEvent } from "../../abi/wire-events.ts";
import { en } from "../../cli/screen/words/en.ts";
import { aboutInput } from "../../lib/text/about-input.ts";
import { shellNote } from "../../lib/text/shell-line.ts";
import { caughtUp, entriesOf, lostModel, openedModel } from "./catch-up.ts";
import { EMPTY, isFinal, MAX_ENTRIES, type Model, type TranscriptEntry } from "./model.ts";
import { notice, reduce } from "./reduce.ts";

type Told = WireEvent extends infer E ? (E extends WireEvent ? Omit<E, "pid"> : never) : never;
const AT = { words: en, client: "me", mono: 1_000 };

function after(events: readonly Told[], from: Model = EMPTY): Model {
  return events.reduce<Model>((model, event) => reduce(model, { pid: 1, ...event } as WireEvent, AT), from);
}

const usage = {
  input_tokens: 5,
  output_tokens: 7,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const USE = { type: "tool_use", id: "t1", name: "bash", input: { command: "ls -a" } } as const;
const begins: Told = {
  event: "delta",
  piece: { type: "message_start", message: { id: "m", model: "x", usage } },
};
const block = (index: number, content_block: { type: "text"; text: string }): Told => ({
  event: "delta",
  piece: { type: "content_block_start", index, content_block },
});
const grows = (index: number, text: string): Told => ({
  event: "delta",
  piece: { type: "content_block_delta", index, delta: { type: "text_delta", text } },
});
const message = (...content: Extract<WireEvent, { event: "message" }>["content"]): Told => ({
  event: "message",
  id: "m",
  model: "big",
  content,
  stop_reason: "end_turn",
  usage,
  duration_ms: 1,
});
const idle: Told = {
  event: "idle",
  seq: 1,
  outcome: "completed",
  result: "",
  exit_code: 0,
  tokens_used: 1,
  elapsed_ms: 1,
  queued: 0,
};
const input = (seq: number, text: string): Told => ({ event: "input", seq, from: 0, client: "me", text });

test("a shell line of another client is shown, one's own is shown already, and neither waits nor begins a run", () => {
  const said = shellNote({ command: "ls", exit: "0", output: "a\n" });
  const input = { event: "input", pid: 1, seq: 9, from: 0, text: said, joins: true } as const;
  const at = { words: en, client: "me", mono: 0 };
  const waits = reduce(
    EMPTY,
    { event: "queued", pid: 1, seq: 9, from: 0, client: "me", text: said } as never,
    at,
  );
  expect(waits.queued).toEqual([]);
  expect(reduce(waits, { ...input, client: "me" }, at).entries).toEqual([]);
  const { entries, activity } = reduce(waits, { ...input, client: "other" }, at);
  expect(entries).toMatchObject([{ kind: "shell", command: "ls", output: "a\n", exit: "0", isFinal: true }]);
  expect(activity).toBeUndefined();
});

test("a reply grows piece by piece, and the whole one takes its place", () => {
  const streaming = after([
    input(1, "hi"),
    begins,
    block(0, { type: "text", text: "" }),
    grows(0, "Hel"),
    grows(0, "lo"),
  ]);
  expect(streaming.entries.at(-1)).toEqual({ kind: "text", text: "Hello", isFinal: false });
  expect(streaming.activity).toMatchObject({ chars: 5, sinceMono: 1_000 });
  const whole = after([message({ type: "text", text: "Hello!" })], streaming);
  expect(whole.entries).toEqual([
    { kind: "user", text: "hi", from: "" },
    { kind: "text", text: "Hello!", isFinal: true },
  ]);
  expect(whole).toMatchObject({ model: "big", activity: { tokens: 12, chars: 0 } });
});

test("an attempt that broke is gone from the transcript, however far it came", () => {
  const broken = after([
    begins,
    block(0, { type: "text", text: "no" }),
    begins,
    block(0, { type: "text", text: "yes" }),
  ]);
  expect(broken.entries).toEqual([{ kind: "text", text: "yes", isFinal: false }]);
  expect(after([idle], broken).entries).toEqual([]);
});

test("a call is one entry: its note, its result and its failure come to it, in any order", () => {
  const note = { tool: "bash", about: "ls -a", facts: { exit: 0 } };
  const called = after([message(USE), { event: "call", call: note }]);
  expect(called.entries).toEqual([
    { kind: "call", id: "t1", tool: "bash", input: USE.input, note, isFinal: false },
  ]);
  const done = after([{ event: "tool_result", tool_use_id: "t1", content: "a\nb", is_error: true }], called);
  expect(done.entries[0]).toMatchObject({ result: "a\nb", isError: true, isFinal: true });
  // a call that began while its reply still came
  const early = after([
    { event: "delta", piece: { type: "content_block_start", index: 0, content_block: USE } },
  ]);
  expect(after([{ event: "call", call: note }, message(USE)], early).entries).toEqual(called.entries);
});

test("a call that is made again has its note, not the same one of the history", () => {
  const past = entriesOf({ role: "assistant", text: "", calls: ['bash {"command":"ls -a"}'] } as never, en);
  const note = { tool: "bash", about: "ls -a", facts: { exit: 2 } };
  const { entries } = after([message(USE), { event: "call", call: note }], { ...EMPTY, entries: past });
  expect(entries.map((entry) => (entry.kind === "call" ? entry.note : entry))).toEqual([undefined, note]);
});

test("a call that was open when the daemon went has its result once it comes", () => {
  const lost = lostModel(after([message(USE)]), en);
  const { entries } = after([{ event: "tool_result", tool_use_id: "t1", content: "a" }], lost);
  expect(entries[0]).toMatchObject({ result: "a", isFinal: true });
  expect(
    after([{ event: "tool_result", tool_use_id: "t1", content: "b" }], { ...lost, entries }).entries,
  ).toEqual(entries);
});

test("a refused call says so once: its line replaces the log of it, and no other", () => {
  const log = (message: string): Told => ({ event: "log", level: "warn", message });
  const denied = after([
    message(USE),
    log("denied bash: rm x (rule)"),
    log("denied bash: ls -a (Permission denied by user)"),
    log("slow"),
  ]);
  const note = { tool: "bash", about: "ls -a", error: "Permission denied by user", refused: true } as const;
  const { entries } = after([{ event: "call", call: note }], denied);
  expect(entries.map((entry) => ("text" in entry ? entry.text : entry.kind))).toEqual([
    "call",
    "[agent/1] log: denied bash: rm x (rule)",
    "[agent/1] log: slow",
  ]);
  const { refused: _, ...failed } = note;
  expect(after([{ event: "call", call: failed }], denied).entries).toHaveLength(4);
  // what is over may be on the screen for good
  expect(after([idle, { event: "call", call: note }], denied).entries).toHaveLength(4);
});

test("where no model is set up, the ways to one are told with it", () => {
  const { entries } = after([{ event: "spawn", intent: "", notice: "No model is set up" } as Told]);
  expect(entries).toEqual([
    {
      kind: "notice",
      text: expect.stringMatching(/^No model is set up\n.*crux auth login/),
      level: "warning",
    },
  ]);
});

test("of two calls of one tool each gets the note with its subject", () => {
  const other = { ...USE, id: "t2", input: { command: "pwd" } };
  const { entries } = after([message(USE, other), { event: "call", call: { tool: "bash", about: "pwd" } }]);
  expect(entries.map((entry) => (entry.kind === "call" ? entry.note?.about : undefined))).toEqual([
    undefined,
    "pwd",
  ]);
});

test("of agents that a reply starts each gets the note of its own end, in whatever order they end", () => {
  const task = (id: string, description: string) => ({
    ...{ type: "tool_use" as const, id, name: "agent" },
    input: { description, prompt: `${description}.`, subagent_type: "explore" },
  });
  const ends = ["explore: Tests", "explore: Errors"];
  const { entries } = after([
    message(task("t1", "Errors"), task("t2", "Security"), task("t3", "Tests")),
    ...ends.map((about): Told => ({ event: "call", call: { tool: "agent", about } })),
  ]);
  expect(entries.map((entry) => (entry.kind === "call" ? entry.note?.about : ""))).toEqual([
    "explore: Errors",
    undefined,
    "explore: Tests",
  ]);
});

test("messages wait until they are read or taken back", () => {
  const queued: Told = { event: "queued", seq: 2, from: 0, client: "me", text: "later", ahead: 1 };
  expect(after([queued, queued]).queued).toEqual([{ seq: 2, text: "later", isMine: true }]);
  expect(after([queued, input(2, "later")])).toMatchObject({
    queued: [],
    entries: [{ kind: "user", text: "later" }],
  });
  expect(after([queued, { event: "withdrawn", seq: 2 }]).queued).toEqual([]);
});

test("a run that ends leaves nothing open, and says why it ended", () => {
  const failed: Told = { ...idle, outcome: "failed", message: "no model" } as Told;
  const { entries, activity } = after([input(1, "go"), message(USE), failed]);
  expect([entries.every(isFinal), activity]).toEqual([true, undefined]);
  expect(entries.at(-1)).toEqual({ kind: "notice", text: "no model", level: "error" });
});

test("a notice during a reply stands before it, and the reply goes on where it is", () => {
  const now = notice(after([begins, block(0, { type: "text", text: "a" })]), "said");
  expect(after([grows(0, "b")], now).entries).toEqual([
    { kind: "notice", text: "said", level: "info" },
    { kind: "text", text: "ab", isFinal: false },
  ]);
});

test("the transcript in memory is bounded, and the reply in progress survives the cut", () => {
  const many = Array.from({ length: MAX_ENTRIES + 20 }, (_, seq) => input(seq + 1, `m${seq}`));
  const model = after([...many, begins, block(0, { type: "text", text: "x" }), grows(0, "y")]);
  expect([model.entries.length, model.dropped]).toEqual([MAX_ENTRIES, 21]);
  expect(model.entries.at(-1)).toEqual({ kind: "text", text: "xy", isFinal: false });
});

test("a summary that nobody asked for is a notice; what the user asked for, and cleared results, are none", () => {
  const moved = { event: "context.moved", before: 160_000, after: 20_400 } as const;
  const { entries } = after([
    { ...moved, layer: "full", trigger: "auto" },
    { ...moved, layer: "full", trigger: "manual" },
    { ...moved, layer: "micro", trigger: "auto" },
  ]);
  const text = "context: earlier messages were summarised, about 160K tokens before, 20K now";
  expect(entries).toEqual([{ kind: "notice", text, level: "info" }]);
});

test("a reply that is dropped leaves the screen before it is told again, notices stay", () => {
  const told = [begins, block(0, { type: "text", text: "" }), grows(0, "half a th")];
  const model = after([
    ...told,
    { event: "tombstone", reply_id: "m" },
    { event: "log", level: "warn", message: "model: stalled" },
    ...told,
    message({ type: "text", text: "half a thought" }),
  ]);
  expect(model.entries.map((entry) => ("text" in entry ? entry.text : ""))).toEqual([
    expect.stringContaining("model: stalled"),
    "half a thought",
  ]);
});

test("what came of a reply that the user interrupts stays on the screen, marked, unless another reply comes", () => {
  const told = [begins, block(0, { type: "text", text: "" }), grows(0, "half a th")];
  const gone = { event: "tombstone", reply_id: "m" } as const;
  const interrupted = { ...idle, outcome: "interrupted" } as Told;
  const { entries } = after([...told, gone, interrupted]);
  expect(entries).toEqual([
    { kind: "text", text: "half a th", isFinal: true, isCut: true },
    { kind: "notice", text: en.entry.interruptedReply, level: "warning", isInterrupt: true },
  ]);
  expect(after([...told, interrupted]).entries).toEqual(entries);
  expect(after([...told, gone, begins, interrupted]).entries).toMatchObject([{ text: "interrupted" }]);
  expect(after([interrupted], after([...told, gone, idle])).entries).toMatchObject([{ text: "interrupted" }]);
  // a later answer of the same words is another one
  const item = { role: "assistant" as const, text: "half a th", calls: [], at: "", seq: 0 };
  expect(caughtUp(after([...told, gone, interrupted]), [item], en).entries).toHaveLength(3);
});

test("a malformed call says once what was wrong", () => {
  const log = (message: string): Told => ({ event: "log", level: "warn", message });
  const { entries } = after([
    message(USE),
    { event: "tool_result", tool_use_id: "t1", content: "bash: unknown key", is_error: true },
    log("model: malformed call (bash: unknown key), asked again 1/3"),
  ]);
  expect(entries).toMatchObject([{ kind: "call", result: "bash: unknown key" }]);
});

test("a change of the effort alone is no other model", () => {
  const [a, b] = [
    { device: "/dev/llm/x", model: "a" },
    { device: "/dev/llm/x", model: "b" },
  ];
  const change = (to: typeof a): Told => ({ event: "model_switch", cause: "user", from: a, to }) as Told;
  expect(after([change(a)]).entries).toEqual([]);
  expect(after([change(b)]).entries).toHaveLength(1);
});

test("openedModel() takes from the session whether it is paused: a stop of the daemon had paused it", () => {
  const paused = after([{ event: "paused", is_paused: true }]);
  const at = { pid: 1, uuid: "u", items: [], isAgain: true };
  expect(openedModel(paused, { ...at, session: { state: "waiting" } }, en).isPaused).toBe(false);
  expect(openedModel(EMPTY, { ...at, session: { state: "paused" } }, en).isPaused).toBe(true);
});

test("a request that is sent again stands where the session says what it does, until the reply begins", () => {
  const retry = { event: "api_retry", max_retries: 10, delay_ms: 500, error_kind: "connection" } as const;
  const model = after([
    { event: "spawn", intent: "" },
    { ...retry, attempt: 1 },
    { ...retry, attempt: 2 },
  ]);
  expect([model.entries, model.activity?.waits]).toEqual([
    [],
    "model: connection failed, retry 2/10 in 0.5s",
  ]);
  expect(
    after([{ ...retry, attempt: 1 }, begins, block(0, { type: "text", text: "" })]).activity?.waits,
  ).toBe("");
});

test("entriesOf() names a call of the past by its tool and what it is about, also where it is cut", () => {
  const calls = [
    'bash {"timeout":5,"command":"npm test\\ntrue"}',
    "ls {}",
    'x {"a":[{"b":"in"}]}',
    'write {"file_path":"a.md","cont…',
  ];
  const item = { role: "assistant", text: "", calls, at: "", seq: 0, uuid: "" } as const;
  const shown = entriesOf(item, AT.words).map((entry) =>
    entry.kind === "call" ? `${entry.tool} ${aboutInput(entry.input)}`.trimEnd() : "",
  );
  expect(shown).toEqual(["bash npm test", "ls", "x in", "write a.md"]);
});

test("a call of the past has its result, and one that is shown already is not shown again", () => {
  const made = [
    { id: "t", tool: "bash", input: { command: "ls -a" }, result: "a.md" },
    { id: "t2", tool: "bash", input: { command: "rm b" }, result: "no such file", is_error: true },
    { id: "t3", tool: "write" },
  ];
  const calls = ['bash {"command":"ls -a"}', 'bash {"command":"rm b"}', 'write {"file_path":"a.md","cont…'];
  const item = { role: "assistant", text: "", calls, made, at: "", seq: 0, uuid: "" } as const;
  const call = { kind: "call", isFinal: true } as const;
  const [first, ...others] = [
    { ...call, id: "t", tool: "bash", input: { command: "ls -a" }, result: "a.md" },
    { ...call, id: "t2", tool: "bash", input: { command: "rm b" }, result: "no such file", isError: true },
    { ...call, id: "t3", tool: "write", input: '{"file_path":"a.md","cont…' },
  ];
  expect(entriesOf(item, AT.words)).toEqual([first, ...others]);
  const live = { ...EMPTY, entries: [{ ...call, id: "t", tool: "bash", input: {}, result: "a.md" }] };
  expect(caughtUp(live, [item], AT.words).entries).toEqual([...live.entries, ...others]);
});

test("a run of the past that failed ends as it does live, once", () => {
  const idle = {
    event: "idle",
    seq: 1,
    result: "",
    exit_code: 1,
    tokens_used: 3,
    elapsed_ms: 5,
    queued: 0,
  } as const;
  const error = { code: "DRIVER", message: "the server is down", hint: "crux doctor" } as const;
  const live = after([
    { event: "input", seq: 1, from: 0, client: "me", text: "go" },
    { ...idle, outcome: "failed", message: error.message, error },
  ]);
  const end = { outcome: "failed", ...error } as const;
  const said = { role: "user", text: "go", at: "", seq: 1, uuid: "" } as const;
  const item = { ...said, calls: [], end };
  const shown: readonly TranscriptEntry[] = [
    { kind: "user", text: "go", from: "" },
    { kind: "notice", text: "the server is down\n→ crux doctor", level: "error" },
  ];
  expect(live.entries).toMatchObject(shown);
  expect(entriesOf(item, AT.words)).toEqual(shown);
  expect(caughtUp(live, [item], AT.words).entries).toEqual(live.entries);
  // a note of the house is not shown, but the end of its run is
  const note = { ...item, text: "<crux-note>x</crux-note>", end: { outcome: "limit", message: "" } } as const;
  expect(entriesOf(note, AT.words)).toEqual([{ kind: "notice", text: "limit", level: "error" }]);
});

test("a reply whose calls were open when the daemon went is shown once, although it comes again", () => {
  const reply = message({ type: "text", text: "Two." }, USE, { ...USE, id: "t2" });
  const call: Told = { event: "call", call: { tool: "bash", about: "ls -a" } };
  const lost = lostModel(after([reply, call]), en);
  const back = after([begins, block(0, { type: "text", text: "Two." }), reply, call, call], lost);
  expect(back.entries.map(({ kind }) => kind)).toEqual(["text", "call", "call"]);
  const parts = after([message({ type: "text", text: "Two." }, USE), message({ ...USE, id: "t2" })], lost);
  expect(parts.entries).toHaveLength(3);
  // a server may give the calls of every reply the same ids
  expect(after([message(USE)], back).entries).toHaveLength(4);
  expect(after([message({ ...USE, id: "t3" })], lost).entries).toHaveLength(4);
});

test("caughtUp() shows what was said meanwhile, and nothing twice", () => {
  const item = (role: "user" | "assistant", text: string) => ({ role, text, calls: [], at: "", seq: 0 });
  const shown = after([input(1, "one"), message({ type: "text", text: "same" })]);
  const history = [
    item("user", "one"),
    item("assistant", "same"),
    item("user", "two"),
    item("user", "<crux-note>Mode plan is on.</crux-note>"),
    item("assistant", "same"),
  ];
  const texts = caughtUp(shown, history, en).entries.map((entry: TranscriptEntry) =>
    "text" in entry ? entry.text : "",
  );
  expect(texts).toEqual(["one", "same", "two", "same"]);
  expect(caughtUp(caughtUp(shown, history, en), history, en).entries).toHaveLength(4);
  const calls = [{ ...item("assistant", ""), calls: ["ls .", "ls ."] }];
  const called = caughtUp(EMPTY, calls, en);
  expect(called.entries).toHaveLength(2);
  expect(caughtUp(called, calls, en)).toEqual(called);
});

test("what a running call prints stands where the call does, the newest only, and goes when the call is over", () => {
  const output = (text: string, command = "ls -a"): Told => ({
    event: "output",
    call: { tool: "bash", about: command },
    output: text,
    elapsed_ms: 400,
  });
  const other = { ...USE, id: "t2", input: { command: "make" } };
  const both = after([
    input(1, "go"),
    message(USE, other),
    output("1\n"),
    output("2\n"),
    output("m\n", "make"),
  ]);
  const printed = (model: Model) => model.entries.map((entry) => entry.kind === "call" && entry.printed);
  expect(printed(both)).toEqual([false, { text: "2\n", beganMono: 600 }, { text: "m\n", beganMono: 600 }]);
  const noted = after([{ event: "call", call: { tool: "bash", about: "ls -a" } }], both);
  expect(printed(noted).slice(1)).toEqual([undefined, { text: "m\n", beganMono: 600 }]);
  const over = after([{ event: "tool_result", tool_use_id: "t2", content: "m" }], both);
  expect(printed(over).at(-1)).toBeUndefined();
  // it comes late
  expect(after([output("late", "make")], after([idle], both)).entries).toEqual(after([idle], both).entries);
});

test("why a process has ended is said once, by its error or by its end", () => {
  const said = (...events: Told[]) => after(events).entries.map((entry) => "text" in entry && entry.text);
  const complete: Told = {
    event: "complete",
    result: "",
    exit_code: 143,
    exit_reason: "killed: SIGTERM",
    tokens_used: 1,
  };
  expect(said(complete)).toEqual(["killed: SIGTERM"]);
  expect(said({ event: "error", error_message: "killed: SIGTERM" }, complete)).toEqual(["killed: SIGTERM"]);
});
