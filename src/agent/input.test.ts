import { describe, expect, test } from "vitest";
import { INPUT_BYTES, INPUT_PATH, inputMessage } from "./input.ts";
import { FakeProcess } from "./testing/fake-process.ts";
import { reply } from "./testing/replies.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function given(input: readonly Uint8Array[]) {
  const process = new FakeProcess({ answers: [reply("done")], input });
  const exit = await process.run();
  expect(exit.code).toBe(0);
  expect(process.openFds.size).toBe(0);
  const said = process.messages.slice(1, -1).map(({ role, content }) => `${role}: ${content}`);
  return { process, said, kept: process.outputs.files.get(INPUT_PATH) };
}

describe("takeInput()", () => {
  test("is a second message of the user, read to the end before the first step, and then closed", async () => {
    const { process, said } = await given([bytes("first\n"), bytes("second\n")]);
    expect(said).toEqual(["user: first\nsecond\n"]);
    const [asked] = process.requests;
    expect(asked?.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "do it" },
          { type: "text", text: "first\nsecond\n" },
        ],
      },
    ]);
    expect(process.trace.slice(0, 4)).toEqual(["Read 0 65536", "Read 0 65536", "Read 0 65536", "Close 0"]);
  });

  test.each([
    ["nothing", []],
    ["blanks", [bytes(" \n\t\n")]],
  ])("of %s says nothing", async (_what, input) => {
    const { said, kept } = await given(input);
    expect([said, kept]).toEqual([[], undefined]);
  });

  test("joins a character that two reads split", async () => {
    const [e, acute] = bytes("é");
    const { said, kept } = await given([new Uint8Array([e!]), new Uint8Array([acute!])]);
    expect([said, kept]).toEqual([["user: é"], undefined]);
  });

  test("shows what just fits, and keeps what does not in a file", async () => {
    const fits = bytes("x".repeat(INPUT_BYTES));
    expect((await given([fits])).said).toEqual([`user: ${"x".repeat(INPUT_BYTES)}`]);
    const { said, kept } = await given([fits, bytes("y"), bytes("z")]);
    expect(said).toEqual([
      `user: [the input has ${INPUT_BYTES + 2} bytes, too many to show here. All of it is at /var/out/input: view it, or grep it]`,
    ]);
    expect(Buffer.from(kept!).toString()).toBe(`${"x".repeat(INPUT_BYTES)}yz`);
  });

  test("says that it is not valid UTF-8, shows what can be shown, and keeps it as it is", async () => {
    const latin = new Uint8Array([0x63, 0x61, 0x66, 0xe9]);
    const { said, kept } = await given([latin]);
    expect(said).toEqual([
      "user: [the input has 4 bytes, and not valid UTF-8. All of it is at /var/out/input: view it, or grep it]\ncaf\ufffd",
    ]);
    expect(new Uint8Array(kept!)).toEqual(latin);
  });

  test("of a character that is cut off at the end is not valid", async () => {
    const { said } = await given([bytes("é").subarray(0, 1)]);
    expect(said[0]).toContain("not valid UTF-8");
  });

  test("shows nothing of what is no text at all", async () => {
    const { said } = await given([new Uint8Array([0x89, 0x50, 0x00, 0xff])]);
    expect(said).toEqual([
      "user: [the input has 4 bytes, and not valid UTF-8. All of it is at /var/out/input: view it, or grep it]",
    ]);
  });

  test("is not read again by a later daemon, which finds it in the context", async () => {
    const { process } = await given([bytes("data")]);
    const at = process.history.findIndex(({ kind }) => kind === "state");
    expect(process.history[at - 1]).toEqual({ kind: "message", message: { role: "user", content: "data" } });
    expect(process.history[at]).toMatchObject({ kind: "state", state: { turn: 0, kept: null } });
  });
});

test("inputMessage() says when the file holds a part only", () => {
  const input = { chunks: [], bytes: 70_000_000, isText: true, keptBytes: 67_108_864 };
  expect(inputMessage(input)).toBe(
    "[the input has 70000000 bytes, too many to show here. The first 67108864 bytes of it are at /var/out/input: view it, or grep it]",
  );
});
