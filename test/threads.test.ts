/** The tool thread in the booted system: a second loop in one process, its result, and nothing left. */
import { expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onStage();

const call = (params: object) => toolUse({ name: "tool_call", input: { tool: "thread", params } });

it("a part of the work runs beside the loop and its result is joined, unasked, in plan mode too", async () => {
  const both = call({ op: "spawn", intent: "dig for gold" }).and(call({ op: "join", tid: 1 }));
  const replies = [both, text("gold"), call({ op: "list" }), text("done")];
  // in the order of the requests: the two loops share one conversation
  await serve(() => replies.shift() ?? text("too many"));
  const { code, stdout } = await world.crux(["--permission-mode", "plan", "work"]);
  expect([code, stdout.includes("done")]).toEqual([0, true]);
  const [, ofThread, joined, last] = server.requests.map((each) =>
    JSON.stringify((each as ModelRequest).messages),
  );
  expect(ofThread).toContain("dig for gold");
  expect(joined).toContain("Thread 1 started. Join it before the end.");
  expect(last).toContain("No threads.");
  const replay = await world.crux(["replay", "1"]);
  expect(replay.stdout + replay.stderr).toContain("it ran threads");
});
