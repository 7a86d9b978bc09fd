/** What is pasted into the interactive terminal: pictures, and long texts that come back. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text } from "./model-server/reply.ts";
import { userTexts } from "./model-server/request.ts";

onStage();

const READY = "% context";
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

it("sends the picture whose path was pasted, and a long paste again that ↑ brings back", async () => {
  await serve(text("Seen."), "anthropic");
  const shot = join(world.work, "a shot.png");
  writeFileSync(shot, Buffer.from(PNG, "base64"));
  await using window = new TerminalWindow(world, []);
  await window.shows(READY);
  window.type("what is ");
  window.type(`\x1b[200~${shot.replaceAll(" ", "\\ ")}\x1b[201~`);
  await window.shows("› what is [Image #1]");
  window.type("\r");
  await window.shows("Seen.");
  expect(JSON.stringify(server.requests.at(-1)?.messages.at(-1))).toContain(PNG);
  window.type(`\x1b[200~${"one of many lines\n".repeat(30)}\x1b[201~`);
  await window.shows("[Pasted text #1 +30 lines]");
  window.type("\r");
  await window.until(({ everything }) => everything.split("Seen.").length === 3, "the second answer");
  window.type("\x1b[A");
  await window.shows("  one of many lines");
  window.type("\r");
  await window.until(({ everything }) => everything.split("Seen.").length === 4, "the third answer");
  const said = userTexts(server.requests.at(-1)!.messages.at(-1)!).join("");
  expect(said.split("one of many lines").length).toBe(31);
});
