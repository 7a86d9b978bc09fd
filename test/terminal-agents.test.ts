/** The view of an agent that works below the session: what it says and calls is on the screen as it does it. */
import { expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onStage();

const isChild = ({ messages }: ModelRequest) => userTexts(messages[0]!)[0]?.startsWith("dig it") === true;

it("shows the reply of an agent as it comes, also what came before the view was opened, and the call under way", async () => {
  const [rest, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await serve(async (request) => {
    if (!isChild(request))
      return request.assistantTurns > 0
        ? text("They dig.")
        : toolUse({
            name: "agent",
            input: { description: "digs", prompt: "dig it", run_in_background: true },
          });
    if (request.assistantTurns > 0) {
      await over.promise;
      return text("All dug.");
    }
    return text("I begin here and ")
      .fragment(8)
      .and(text("go on there."), toolUse({ name: "bash", input: { command: "sleep 1; echo deep" } }))
      .until(rest.promise, { afterBlocks: 1 });
  });
  await using window = new TerminalWindow(world, []);
  await window.shows("% context");
  window.type("lead\r");
  await settled(() => server.requests.some(isChild), Boolean);
  await window.shows("They dig.");
  await window.shows("general-purpose  digs");
  window.type("\x1b[B\x1b[B\r");
  await window.shows("x stop");
  await window.shows("● I begin here and");
  expect(window.rows.join("\n")).not.toContain("go on there.");
  rest.resolve();
  await window.shows("go on there.");
  await window.until(({ rows }) => rows.some((row) => /^○ .*sleep 1/.test(row)), "the call under way");
  await window.until(({ rows }) => rows.some((row) => /^● .*sleep 1/.test(row)), "its end");
  over.resolve();
  await window.shows("● All dug.");
  const shown = window.rows.join("\n");
  for (const words of ["dig it", "I begin here", "go on there.", "All dug."])
    expect(shown.split("\n").filter((row) => !row.includes("[2]") && row.includes(words))).toHaveLength(1);
});
