import { expect, test } from "vitest";
import { ModeNotes } from "./mode-notes.ts";

const said = (content: string) => ({ role: "user", content });

test("note() tells a mode once, in full the first time, and its end once", () => {
  const notes = new ModeNotes();
  expect(notes.note("")).toBe("");
  const first = notes.note("auto");
  expect(first).toContain("Mode auto is on: nobody confirms");
  expect(notes.note("auto")).toBe("");
  expect(notes.note("")).toBe("<crux-note>Mode auto has ended: the user is asked again.</crux-note>");
  expect(notes.note("")).toBe("");
  expect(notes.note("auto")).toBe("<crux-note>Mode auto is on again.</crux-note>");
});

test("note() names the place of the plan, and says how plan gave way to auto", () => {
  const notes = new ModeNotes();
  expect(notes.note("plan /a b/plan.md")).toContain("Write the plan to /a b/plan.md. ");
  expect(notes.note("auto")).toMatch(/^<crux-note>Mode plan has ended\. Mode auto is on: /);
  expect(notes.note("plan /p")).toMatch(/^<crux-note>Mode plan is on: /);
  expect(notes.note("")).toBe("<crux-note>Mode plan has ended.</crux-note>");
  // an agent that works for another
  expect(notes.note("plan")).not.toMatch(/plan_exit|Write the plan/);
});

test("recall() comes to what was told before, from the conversation alone", () => {
  const modes = ["auto", "auto", "plan /p", "", "auto", "plan /p", "auto", "", "plan /p"];
  for (let cut = 0; cut <= modes.length; cut++) {
    const whole = new ModeNotes();
    const told = modes.slice(0, cut).flatMap((mode) => [said(whole.note(mode)), said("hello")]);
    const again = new ModeNotes();
    again.recall(told);
    for (const mode of modes.slice(cut)) expect(again.note(mode)).toBe(whole.note(mode));
  }
});
