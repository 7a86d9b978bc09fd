/** A session whose daemon is killed while its calls wait for agents, and which is opened again. */
import { expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onStage();

const taskOf = ({ messages }: ModelRequest) =>
  messages.flatMap((each) => (each.role === "user" ? userTexts(each) : []))[0] ?? "";
const call = (prompt: string) => ({ name: "agent", input: { description: `does ${prompt}`, prompt } });

it("waits for the same agents: each answers its call once, and none is started twice", async () => {
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  await serve(({ lastToolResults, ...request }) => {
    const task = taskOf(request as ModelRequest);
    if (task === "quick") return text("Quick.");
    if (task === "slow") return asked++ === 0 ? text("Lost.").until(gate.promise) : text("Slow.");
    if (!task.startsWith("lead")) return text("A title.");
    if (lastToolResults.length === 0) return toolUse([call("quick"), call("slow")]);
    return text(
      `Told: ${lastToolResults.map(({ content }) => String(content).split("\n")[0]).join(" and ")}`,
    );
  });
  await using window = new TerminalWindow(world, [], { columns: 120, env: world.env });
  await window.shows("default");
  window.type("lead them");
  await window.shows("lead them");
  window.type("\r");
  await window.until(({ rows }) => rows.some((row) => /^● agent does quick/.test(row)));
  await settled(
    () => server.requests.filter((each) => taskOf(each) === "slow").length,
    (count) => count === 1,
  );
  process.kill(world.daemonPid!, "SIGKILL");
  gate.resolve();
  await window.shows("Told: Quick. and Slow.");
  // the reply that came again with its calls is not shown again
  await window.until(({ rows }) => rows.filter((row) => /^. agent does slow/.test(row)).length === 1);
  expect(server.requests.filter((each) => taskOf(each) === "quick")).toHaveLength(1);
  expect((await world.crux(["ps", "-a", "-v"])).stdout.match(/ (quick|slow)$/gm)).toHaveLength(2);
});
