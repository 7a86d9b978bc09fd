/** Colours by role. Nothing is told by colour alone: every role that matters has a mark or a word too. */

const ROLES = [
  ...(["text", "dim", "accent", "success", "warning", "error", "info", "border", "selection"] as const),
  ...(["diffAdd", "diffRemove"] as const),
] as const;
export type Paint = (typeof ROLES)[number];

/** For each role the parameters of an SGR sequence; "" leaves the text as it is. */
export type Theme = Readonly<Record<Paint, string>>;

/** How many colours the terminal has. */
type Depth = "none" | 16 | 256 | "24bit";

/** Hexadecimal colours, in the order of the roles; "": the colour of the terminal. */
const PALETTES = {
  dark: [
    "",
    "8a8a8a",
    "d7af5f",
    "87af5f",
    "d7af00",
    "ff6b6b",
    "5fafd7",
    "5f5f5f",
    "303a4a",
    "87d787",
    "ff8787",
  ],
  light: [
    "",
    "6c6c6c",
    "875f00",
    "3a6b00",
    "7a5a00",
    "b00020",
    "005f87",
    "9e9e9e",
    "d0e4ff",
    "1f6f1f",
    "a01020",
  ],
  "high-contrast": [
    ...["ffffff", "d0d0d0", "ffff00", "00ff00", "ffd700", "ff5f5f", "00ffff", "ffffff", "0000af", "00ff00"],
    "ff5f5f",
  ],
  "dark-daltonized": [
    ...[
      "",
      "8a8a8a",
      "d7af5f",
      "5fafff",
      "ffd75f",
      "ffaf5f",
      "87d7ff",
      "5f5f5f",
      "303a4a",
      "5fafff",
      "ffaf5f",
    ],
  ],
  "light-daltonized": [
    ...[
      "",
      "6c6c6c",
      "875f00",
      "005faf",
      "7a5a00",
      "a04a00",
      "005f87",
      "9e9e9e",
      "d0e4ff",
      "005faf",
      "a04a00",
    ],
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The sixteen colours that every terminal has, as it shows them. */
const ANSI: Theme = {
  text: "",
  dim: "2",
  accent: "33",
  success: "32",
  warning: "33",
  error: "31",
  info: "36",
  border: "2",
  selection: "7",
  diffAdd: "32",
  diffRemove: "31",
};

export const THEMES = [...Object.keys(PALETTES), "ansi"] as readonly string[];

const BARE = Object.fromEntries(ROLES.map((role) => [role, ""])) as Theme;

/** An unknown name is `dark`. */
export function themeOf(name: string, depth: Depth): Theme {
  // what is chosen in a list must be seen without colours too
  if (depth === "none") return { ...BARE, dim: "2", selection: "7" };
  if (name === "ansi" || depth === 16) return ANSI;
  const palette = Object.hasOwn(PALETTES, name) ? PALETTES[name as keyof typeof PALETTES] : PALETTES.dark;
  return Object.fromEntries(
    ROLES.map((role, at) => [role, styleOf(palette[at] ?? "", depth, role === "selection")]),
  ) as Theme;
}

export function depthOf(env: Readonly<Record<string, string | undefined>>, isRefused: boolean): Depth {
  const { COLORTERM = "", TERM = "" } = env;
  if (isRefused) return "none";
  if (/truecolor|24bit/i.test(COLORTERM)) return "24bit";
  return TERM.includes("256color") ? 256 : 16;
}

function styleOf(hex: string, depth: 256 | "24bit", isBackground: boolean): string {
  if (hex === "") return "";
  const rgb = [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const ground = isBackground ? 48 : 38;
  return depth === "24bit" ? `${ground};2;${rgb.join(";")}` : `${ground};5;${cubeOf(rgb)}`;
}

/** The nearest colour of the 6 × 6 × 6 cube, or of the greys. */
function cubeOf(rgb: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = rgb;
  if (r === g && g === b && r > 8 && r < 240) return 232 + Math.round((r - 8) / 10);
  const step = (value: number) => (value < 48 ? 0 : value < 115 ? 1 : Math.floor((value - 35) / 40));
  return 16 + 36 * step(r) + 6 * step(g) + step(b);
}
