/** What an agent in the background has said, as a file of those above it. */
import { expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onStage();

const taskOf = ({ messages }: ModelRequest): string =>
  (messages.flatMap((message) => (message.role === "user" ? userTexts(message) : []))[0] ?? "").split(
    "\n<crux-note>",
  )[0]!;
const results = ({ lastToolResults }: ModelRequest) => lastToolResults.map(({ content }) => String(content));
const requestsOf = (task: string) => server.requests.filter((request) => taskOf(request) === task);
const crux = (...args: string[]) => world.crux(args, { env: modelEnv(server) });
const background = (prompt: string) => ({
  name: "agent",
  input: { description: prompt, prompt, run_in_background: true },
});
const see = (path: string) => toolUse({ name: "view", input: { file_path: path } });

it("is read while the agent works, after its end and after a kill -9, by nobody beside it", async () => {
  const [isRead, isAsked] = [1, 2].map(() => Promise.withResolvers<void>());
  let file = "";
  const parts: Record<string, (request: ModelRequest) => Reply | Promise<Reply>> = {
    lead: (request) => {
      switch (request.assistantTurns) {
        case 0:
          return toolUse([background("dig"), background("look")]);
        case 1:
          file = /\/var\/out\/agent-[0-9a-f]{12}/.exec(results(request)[0] ?? "")?.[0] ?? "";
          return see(file).until(
            settled(
              () => requestsOf("dig").length,
              (count) => count === 2,
            ),
          );
        case 2:
          isRead!.resolve();
          return text("Waiting.").until(isAsked!.promise);
        default:
          return text("Over.");
      }
    },
    dig: (request) =>
      request.assistantTurns === 0
        ? text("Halfway.").and(toolUse({ name: "ls", input: { path: "." } }))
        : text("Found it.").until(isRead!.promise),
    look: async (request) => {
      if (request.assistantTurns > 0) {
        isAsked!.resolve();
        return text(results(request)[0] ?? "");
      }
      await isRead!.promise;
      return see(file);
    },
  };
  await startModel({ script: (request) => parts[taskOf(request)]!(request) });
  const pid = Number((await crux("-q", "-d", "lead")).stdout);
  await crux("wait", String(pid));
  const live = results(requestsOf("lead")[2]!)[0]!;
  expect(live).toContain("Halfway.");
  expect(live).toContain('[ls {"path":"."}]');
  expect(live).not.toContain("Found it.");
  expect(results(requestsOf("look")[1]!)[0]).toContain("no agent of this name at or below this one");
  const whole = (await crux("cat", file)).stdout;
  expect(whole).toBe('Halfway.\n[ls {"path":"."}]\nFound it.\n');
  process.kill(world.daemonPid!, "SIGKILL");
  await crux("daemon", "start", "--normal");
  expect((await crux("cat", file)).stdout).toBe(whole);
});
