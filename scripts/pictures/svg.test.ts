import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { svgOf } from "./svg.ts";

const { Terminal } = createRequire(import.meta.url)("@xterm/headless") as typeof import("@xterm/headless");

async function drawn(bytes: string): Promise<string> {
  const screen = new Terminal({ cols: 20, rows: 4, allowProposedApi: true });
  await new Promise<void>((done) => screen.write(bytes, done));
  const svg = svgOf(screen, { title: "a < b", steady: (text) => text.replace("/tmp", "/usr") });
  screen.dispose();
  return svg;
}

test("svgOf() draws the used rows, each run with its place, width, colours and style", async () => {
  const svg = await drawn(
    "  /tmp & \x1b[1;31mred\x1b[0m\r\n\x1b[7m 中x \x1b[0m \x1b[38;5;240mg\x1b[38;2;1;2;3mt",
  );
  expect(svg.split("\n").slice(1, -3)).toEqual([
    "<title>a &lt; b</title>",
    '<rect width="100%" height="100%" rx="8" fill="#15171c"/>',
    '<g fill="#d6d8de" xml:space="preserve">',
    '<text x="30.8" y="28" textLength="50.4">/usr &amp;</text>',
    '<text x="89.6" y="28" textLength="25.2" fill="#e06c75" font-weight="bold">red</text>',
    '<rect x="14" y="32" width="8.4" height="18" fill="#d6d8de"/>',
    '<rect x="22.4" y="32" width="16.8" height="18" fill="#d6d8de"/>',
    '<text x="22.4" y="46" textLength="16.8" fill="#15171c">中</text>',
    '<rect x="39.2" y="32" width="16.8" height="18" fill="#d6d8de"/>',
    '<text x="39.2" y="46" textLength="16.8" fill="#15171c">x </text>',
    '<text x="64.4" y="46" textLength="8.4" fill="#585858">g</text>',
    '<text x="72.8" y="46" textLength="8.4" fill="#010203">t</text>',
  ]);
  expect(svg).toContain('viewBox="0 0 196 64"');
});
