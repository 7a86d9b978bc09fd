/** process.steps, process.fork and process.rewind over the socket, on a kernel that does what the test says. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RawClient, ServerFixture } from "../../testing/fixture.ts";

let fixture: ServerFixture;
let client: RawClient;
beforeEach(async () => {
  fixture = await new ServerFixture().start();
  client = await fixture.connect();
});
afterEach(() => fixture.close());

async function ask(method: string, payload: object): Promise<unknown> {
  return JSON.parse(await client.ask(JSON.stringify({ method, payload })));
}
const forkRequests = () => fixture.kernel.forkRequests;

test("process.steps asks for a hundred, and names twenty files of a step that changed more", async () => {
  const answer = await ask("process.steps", { pid: 3 });
  expect(answer).toMatchObject({
    ok: true,
    payload: {
      pid: 3,
      steps: [
        { step: 1, at: "1970-01-01T00:00:00.000Z", words: "hello", file_count: 30, commands: 2, seq: 9 },
      ],
    },
  });
  const [step] = (answer as { payload: { steps: { files: string[] }[] } }).payload.steps;
  expect(step?.files).toHaveLength(20);
  expect(forkRequests()).toEqual([{ pid: 3, last: 100 }]);
});

test("process.fork hands on what it was given, and nothing else", async () => {
  expect(await ask("process.fork", { pid: 3 })).toMatchObject({
    ok: true,
    payload: { pid: 8, uuid: "v", step: 1, from: "u", at: 9 },
  });
  const more = { at: { seq: 9 }, wake: true, env: { A: "b" }, client: "me" };
  await ask("process.fork", { pid: 3, text: "go", ...more });
  expect(forkRequests()).toEqual([{ pid: 3 }, { pid: 3, message: "go", ...more }]);
});

test("process.rewind tells a refusal, and what force did", async () => {
  expect(await ask("process.rewind", { pid: 3, at: { step: 1 }, files: true })).toMatchObject({
    ok: true,
    payload: { refused: true, conflicts: ["/w/a"], fork: null, command_count: 1 },
  });
  expect(await ask("process.rewind", { pid: 3, files: true, force: true })).toMatchObject({
    payload: { refused: false, fork: { pid: 8 }, files: [{ path: "/w/a", deed: "restored" }] },
  });
  expect(forkRequests()[0]).toEqual({ pid: 3, at: { step: 1 }, files: true, dryRun: false, force: false });
});

test.each([
  ["process.fork", { pid: 3, at: { step: -1 } }],
  ["process.fork", { pid: 3, at: { step: 1, seq: 2 } }],
  ["process.fork", { pid: 3, at: 4 }],
  ["process.steps", { pid: 3, last: 0 }],
  ["process.rewind", { pid: 3, everything: true }],
])("%s %j is INVALID", async (method, payload) => {
  expect(await ask(method, payload)).toMatchObject({ ok: false, error: { code: "INVALID" } });
  expect(forkRequests()).toEqual([]);
});
