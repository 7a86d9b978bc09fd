/** A long answer in a terminal that keeps its scrollback, read from its beginning while the rest comes. */
import { expect, it } from "vitest";
import { onSharedStage, serve, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text } from "./model-server/reply.ts";

onSharedStage();

const PARTS = 40;
const part = (at: number): string => `Part ${at} of ${PARTS}.`;
const ANSWER = text(Array.from({ length: PARTS }, (_, at) => `- ${part(at)}`).join("\n")).fragment(6);
const counts = ({ everything }: TerminalWindow): readonly number[] =>
  Array.from({ length: PARTS }, (_, at) => everything.split(part(at)).length - 1);
const atRest = (window: TerminalWindow): Promise<void> =>
  window.until(({ rows }) => !rows.join("\n").includes("esc to interrupt"), "at rest");

it("has its beginning in the scrollback while the rest comes, and all of it once, also after a resize", async () => {
  const { promise: rest, resolve: open } = Promise.withResolvers<void>();
  await serve(() => ANSWER.until(rest, { afterEvents: 80 }));
  await using window = new TerminalWindow(world, [], { rows: 20 });
  await window.shows("% context");
  window.type("go\r");
  await window.until(
    ({ everything, rows }) => everything.includes(part(0)) && !rows.join("\n").includes(part(0)),
  );
  await window.shows(part(20));
  expect(counts(window).slice(0, 20)).toEqual(Array(20).fill(1));
  window.resize(90, 24);
  await window.until(({ rows }) => rows.includes("─".repeat(89)), "drawn anew");
  open();
  await atRest(window);
  expect(counts(window)).toEqual(Array(PARTS).fill(1));
});

it("says so where the attempt breaks whose beginning is in the scrollback, and has the next one whole", async () => {
  const { promise: read, resolve: breakOff } = Promise.withResolvers<void>();
  await serve([ANSWER.until(read, { afterEvents: 80 }).truncate({ afterEvents: 81 }), ANSWER]);
  await using window = new TerminalWindow(world, [], { rows: 20 });
  await window.shows("% context");
  window.type("go\r");
  await window.shows(part(20));
  breakOff();
  await window.until(({ everything }) => everything.includes(part(PARTS - 1)), "the whole answer");
  await atRest(window);
  const [void_ = "", whole = "", ...more] = window.everything.split("this answer broke off and begins anew");
  expect(more).toEqual([]);
  expect(void_).toContain(`● • ${part(0)}`);
  expect(void_).not.toContain(part(PARTS - 1));
  for (let at = 0; at < PARTS; at++) expect(whole.split(part(at)).length - 1).toBe(1);
});

it("keeps what came of it once where the user interrupts it", async () => {
  await serve(() => ANSWER.stall({ afterEvents: 80 }));
  await using window = new TerminalWindow(world, [], { rows: 20 });
  await window.shows("% context");
  window.type("go\r");
  await window.shows(part(24));
  window.type("\x1b");
  await window.shows("! interrupted");
  await atRest(window);
  expect(counts(window).slice(0, 25)).toEqual(Array(25).fill(1));
  expect(window.everything).not.toContain("begins anew");
});
