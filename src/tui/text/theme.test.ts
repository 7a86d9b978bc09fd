import { expect, test } from "vitest";
import { depthOf, PALETTES, parsePalette, themeOf } from "./theme.ts";

test("depthOf() follows the terminal, and whoever wants no colours", () => {
  expect(depthOf({ COLORTERM: "truecolor", TERM: "xterm" }, false)).toBe("24bit");
  expect(depthOf({ TERM: "xterm-256color" }, false)).toBe(256);
  expect(depthOf({ TERM: "linux" }, false)).toBe(16);
  expect(depthOf({ COLORTERM: "truecolor", TERM: "xterm-256color" }, true)).toBe("none");
});

test("themeOf() has a colour for each role in the colours that there are, and none without colours", () => {
  expect(themeOf("dark", "24bit").error).toBe("38;2;255;107;107");
  expect(themeOf("dark", 256).error).toBe("38;5;203");
  expect(themeOf("dark", 16).error).toBe("31");
  for (const style of Object.values(themeOf("high-contrast", "none")))
    expect(["", "2", "7"]).toContain(style);
});

test.each(["dark-daltonized", "light-daltonized"])("%s never sets red against green", (name) => {
  for (const depth of [16, 256, "24bit"] as const) {
    const theme = themeOf(name, depth);
    for (const [one, other] of [["success", "error"] as const, ["diffAdd", "diffRemove"] as const]) {
      expect(theme[one]).not.toBe(theme[other]);
      expect(["31", "32", themeOf("dark", depth)[other]]).not.toContain(theme[other]);
    }
  }
  // the blue of what is added, against the orange of what is removed
  const [added, removed] = [PALETTES[name]?.diffAdd, PALETTES[name]?.diffRemove].map((hex = "") =>
    Number.parseInt(hex.slice(4), 16),
  );
  expect((added ?? 0) - (removed ?? 0)).toBeGreaterThan(100);
});

test.each(Object.entries(PALETTES))(
  "%s is read on the backgrounds it is for: contrast 4.5 at least",
  (name, palette) => {
    const grounds = name.startsWith("light") ? ["ffffff", "fafafa"] : ["000000", "1e1e1e"];
    for (const [role, hex] of Object.entries(palette)) {
      // lines that hold nothing, and a ground
      if (hex === "" || role === "border" || role === "selection") continue;
      for (const ground of grounds)
        expect({ role, ratio: contrast(hex, ground) >= 4.5 }).toEqual({ role, ratio: true });
    }
  },
);

test("parsePalette() takes roles and modes over a base, and says what is wrong beside them", () => {
  const { palette, problems } = parsePalette({
    base: "light",
    accent: "#123456",
    plan: "#654321",
    colour: "#000000",
    dim: "grey",
  });
  expect(problems).toEqual([
    expect.stringContaining("no role colour; roles: text,"),
    "dim: not a colour like #d7af5f",
  ]);
  const theme = themeOf("mine", "24bit", { mine: palette });
  expect([theme.accent, theme.plan, theme.error]).toEqual([
    ...["38;2;18;52;86", "38;2;101;67;33", themeOf("light", "24bit").error],
  ]);
  expect(parsePalette([]).problems).toEqual(["not an object of roles and colours"]);
});

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** As WCAG 2.2 defines it. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
