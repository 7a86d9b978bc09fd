/** Ctrl-B while an agent of the session asks the user. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { onStage, serve, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onStage();

it("lets the session go on while the question of its agent stays open, which still counts", async () => {
  const isChild = ({ rawBody }: ModelRequest) => rawBody.includes("dig here") && !rawBody.includes("lead on");
  await serve((request: ModelRequest) => {
    if (isChild(request))
      return request.assistantTurns > 0
        ? text("Dug.")
        : toolUse({ name: "bash", input: { command: "touch dug" } });
    if (request.assistantTurns > 0) return text("Meanwhile more.");
    return toolUse({ name: "agent", input: { description: "digs", prompt: "dig here" } });
  });
  await using window = new TerminalWindow(world, []);
  await window.shows("% context");
  window.type("lead on\r");
  await window.shows("1 [y]es");
  await window.until(({ rows }) => !rows.join("\n").includes("until you pause"));
  window.type("\x02");
  await window.shows("Meanwhile more.");
  await window.shows("1 [y]es");
  window.type("1");
  await window.until(() => existsSync(join(world.work, "dug")) || window.exitCode !== undefined);
  expect(existsSync(join(world.work, "dug"))).toBe(true);
});
