import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { PROTOCOL } from "../../abi/wire.ts";
import { en } from "../../cli/screen/words/en.ts";
import { BLANK, type Buffer, insert, paste, withText } from "./buffer.ts";
import { sendable } from "./long-pastes.ts";

function sent(buffer: Buffer, scratch?: string) {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  return {
    text: sendable({
      ...{ editing: { buffer }, words: en, say, fail: (error) => say(String(error)) },
      ...{ model: { uuid: "u" }, keep: { scratchOf: () => scratch } },
    }),
    said,
  };
}
const SHORT = "short\n".repeat(20);
const LONG = "y".repeat(PROTOCOL.textChars - 10);

test("of what is too long the longest paste goes as a file of the user's alone, the rest as it is", () => {
  const buffer = [SHORT, LONG].reduce((now, text) => insert(paste(now, text), " and "), BLANK);
  const { text = "", said } = sent(buffer);
  const [, count, path = ""] = /#2: (\d+) characters, in the file (\/\S+)\]/.exec(text) ?? [];
  expect([text.startsWith(`${SHORT} and `), Number(count), said]).toEqual([true, LONG.length, []]);
  expect(readFileSync(path, "utf8")).toBe(LONG);
  expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  rmSync(dirname(path), { recursive: true });
});

test("it goes to the scratch folder of the session, where there is one", () => {
  const scratch = mkdtempSync(join(tmpdir(), "crux-test-"));
  const { text = "" } = sent(insert(paste(BLANK, LONG), "what is that, and why?"), scratch);
  const [, path = ""] = /in the file (\/\S+)\]/.exec(text) ?? [];
  expect([dirname(path), readFileSync(path, "utf8")]).toEqual([scratch, LONG]);
  rmSync(scratch, { recursive: true });
});

test("what fits goes whole; what is too long by itself stays, and it is said", () => {
  expect(sent(paste(BLANK, LONG))).toEqual({ text: LONG, said: [] });
  const { text, said } = sent(withText(BLANK, `${LONG}${SHORT}`));
  expect([text, said.length]).toEqual([undefined, 1]);
});
