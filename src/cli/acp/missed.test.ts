import { expect, test } from "vitest";
import { INTERRUPTED_NOTE } from "../../abi/events.ts";
import { missedIn } from "./missed.ts";
import { Prompt } from "./prompt-queue.ts";

const item = (role: "user" | "assistant", text: string, more: object = {}) =>
  ({ role, text, calls: [], at: "", seq: 1, ...more }) as const;
const user = (message: number, text = "go") => item("user", text, { message });
const prompt = (seq: number | undefined, isRead = false) =>
  Object.assign(new Prompt("go", []), { seq, isRead });
const failed = { outcome: "failed", message: "down", reason: "model_error", code: "DRIVER" } as const;

/** What became of each: the kind of its end, `read`, or undefined. */
function ends(prompts: readonly Prompt[], messages: readonly object[], isRunning = false) {
  const { over, read, texts } = missedIn(prompts, { pid: 1, messages: messages as never, isRunning });
  const kinds = prompts.map((each) => {
    const end = over.find((found) => found.prompt === each)?.end;
    return end?.kind === "run" ? end.event : (end?.kind ?? (read.includes(each) ? "read" : undefined));
  });
  return [...kinds, texts.join("|")];
}

test("missedIn() knows a prompt by its number, however many have its words", () => {
  const past = [user(1), item("assistant", "old"), user(2), item("assistant", "", { end: failed }), user(3)];
  const failure = { outcome: "failed", reason: "model_error", error: { code: "DRIVER", message: "down" } };
  expect(ends([prompt(2), prompt(3), prompt(4), prompt(undefined)], past, true)).toMatchObject([
    failure,
    "read",
    undefined,
    undefined,
    "",
  ]);
});

test("missedIn() tells a run that is over from one that goes on, and from one that was interrupted or killed", () => {
  const call = item("assistant", "", { calls: ["bash ls"] });
  expect(ends([prompt(1)], [user(1), call, item("assistant", "done")])).toEqual(["unseen", "done"]);
  expect(ends([prompt(1)], [user(1), call, item("assistant", "done")], true)).toEqual(["read", ""]);
  expect(
    ends(
      [prompt(1)],
      [user(1), item("assistant", "half"), item("user", "<crux-note>Go on.</crux-note>")],
      true,
    ),
  ).toEqual(["read", ""]);
  expect(ends([prompt(1), prompt(2)], [user(1), item("assistant", "one"), user(2)], true)).toEqual([
    "unseen",
    "read",
    "one",
  ]);
  expect(ends([prompt(1)], [user(1), call, item("user", INTERRUPTED_NOTE), user(9)])).toEqual([
    "cancelled",
    "",
  ]);
  const killed = { outcome: "failed", message: "killed: SIGTERM" };
  expect(ends([prompt(1, true)], [item("assistant", "half", { calls: ["x"], end: killed })])).toEqual([
    "cancelled",
    "half",
  ]);
});
