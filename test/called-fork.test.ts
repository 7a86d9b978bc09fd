/** A fork that a call of the model starts: what it is sent, what the cache gives it, what a person sees of it. */
import { expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onStage();

const TAG = "<fork-boilerplate>";
const said = ({ messages }: ModelRequest) =>
  messages.flatMap((each) => (each.role === "user" ? userTexts(each) : []));
const directiveOf = (request: ModelRequest) =>
  said(request)
    .find((each) => each.startsWith(TAG))
    ?.split("\n\n")
    .at(-1) ?? "";
const forkCall = (prompt: string) => ({
  name: "agent",
  input: { description: `does ${prompt}`, prompt, subagent_type: "fork" },
});

it("two forks of one reply have all bytes up to their directives, read the cache, cannot fork, and report", async () => {
  world.settings({ agents: { fork: true } });
  const go = Promise.withResolvers<void>();
  await startModel({
    script: async (request) => {
      const directive = directiveOf(request);
      if (directive === "") {
        if (request.assistantTurns === 0) return toolUse([forkCall("dig left"), forkCall("dig right")]);
        return text(
          said(request)
            .join("\n")
            .match(/completed/g)?.length === 2
            ? "Both are back."
            : "They dig.",
        );
      }
      if (request.assistantTurns === 1) return toolUse(forkCall("dig deeper"));
      await go.promise;
      return text(`${directive}: ${request.lastToolResults.map(({ content }) => String(content)).join()}`);
    },
    promptCache: { minTokens: 512 },
  });
  const env = modelEnv(server, "anthropic");
  await using window = new TerminalWindow(world, ["lead please"], { columns: 120, env });
  await window.until(({ rows }) => rows.filter((row) => /^○ agent fork does dig/.test(row)).length === 2);
  const tree = await world.crux(["tree"], { env });
  expect(tree.stdout.match(/fork/g)).toHaveLength(2);
  go.resolve();
  await window.shows("Both are back.");
  const forks = server.requests.filter((each) => directiveOf(each) !== "" && each.assistantTurns === 1);
  expect(forks.map(directiveOf).sort()).toEqual(["dig left", "dig right"]);
  const [one, two] = forks.map(({ rawBody }) => rawBody.slice(0, rawBody.indexOf(TAG)));
  expect(one).toBe(two);
  for (const { cache } of forks)
    expect(cache!.read / (cache!.read + cache!.write + cache!.input)).toBeGreaterThan(0.8);
  const results = server.requests
    .filter(({ assistantTurns: n }) => n === 2)
    .flatMap(({ lastToolResults }) => lastToolResults);
  expect(
    results.filter(({ content }) => String(content).includes("[PERMISSION]: a fork cannot be forked")),
  ).toHaveLength(2);
}, 60_000);
