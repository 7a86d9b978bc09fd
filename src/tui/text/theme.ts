/** Colours by role. Nothing is told by colour alone: every role that matters has a mark or a word too. */
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";

const ROLES = [
  ...(["text", "dim", "accent", "success", "warning", "error", "info", "border", "selection"] as const),
  ...(["diffAdd", "diffRemove"] as const),
] as const;
type Role = (typeof ROLES)[number];
/** A permission mode is a role too. */
export type Paint = Role | PermissionMode;
const PAINTS: readonly Paint[] = [...ROLES, ...PERMISSION_MODES];

/** For each role the parameters of an SGR sequence; "" leaves the text as it is. */
export type Theme = Readonly<Record<Paint, string>>;

/** How many colours the terminal has. */
type Depth = "none" | 16 | 256 | "24bit";

/** Hexadecimal colours without `#`; "": the colour of the terminal. */
export type Palette = Readonly<Record<Role, string> & Partial<Record<PermissionMode, string>>>;

const palette = (...colours: readonly string[]): Palette =>
  Object.fromEntries(ROLES.map((role, at) => [role, colours[at] ?? ""])) as Palette;

/** In the order of the roles. */
const DARK = palette(
  ...["", "8a8a8a", "d7af5f", "87af5f", "d7af00", "ff6b6b", "5fafd7", "5f5f5f", "303a4a"],
  ...["87d787", "ff8787"],
);
export const PALETTES: Readonly<Record<string, Palette>> = {
  dark: DARK,
  light: palette(
    ...["", "6c6c6c", "875f00", "3a6b00", "7a5a00", "b00020", "005f87", "9e9e9e", "d0e4ff"],
    ...["1f6f1f", "a01020"],
  ),
  "high-contrast": palette(
    ...["ffffff", "d0d0d0", "ffff00", "00ff00", "ffd700", "ff5f5f", "00ffff", "ffffff", "0000af"],
    ...["00ff00", "ff5f5f"],
  ),
  "dark-daltonized": palette(
    ...["", "8a8a8a", "d7af5f", "5fafff", "ffd75f", "ffaf5f", "87d7ff", "5f5f5f", "303a4a"],
    ...["5fafff", "ffaf5f"],
  ),
  "light-daltonized": palette(
    ...["", "6c6c6c", "875f00", "005faf", "7a5a00", "a04a00", "005f87", "9e9e9e", "d0e4ff"],
    ...["005faf", "a04a00"],
  ),
};

/** The sixteen colours that every terminal has, as it shows them. */
const ANSI: Readonly<Record<Role, string>> = {
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
/** Without red against green. */
const ANSI_DALTONIZED = { ...ANSI, success: "34", error: "33", diffAdd: "34", diffRemove: "33" };
const BARE = { ...palette(), dim: "2", selection: "7" };

/** The role whose colour a mode has where a palette names none for it. */
const MODE_ROLES: Readonly<Record<PermissionMode, Role>> = {
  plan: "info",
  dont_ask: "dim",
  default: "dim",
  accept_edits: "success",
  auto: "warning",
  bypass: "error",
};

/** The names that `ui.theme` and `/theme` take, beside those of own themes. */
export const THEMES: readonly string[] = ["auto", ...Object.keys(PALETTES), "ansi"];

/** An unknown name is `dark`. `own`: palettes beside the shipped ones. */
export function themeOf(name: string, depth: Depth, own: Readonly<Record<string, Palette>> = {}): Theme {
  // what is chosen in a list must be seen without colours too
  if (depth === "none") return withModes(BARE);
  if (name === "ansi" || depth === 16)
    return withModes(name.endsWith("-daltonized") ? ANSI_DALTONIZED : ANSI);
  const colours = own[name] ?? (Object.hasOwn(PALETTES, name) ? PALETTES[name] : undefined) ?? DARK;
  const styles = Object.entries(colours).map(([role, hex]) => [
    role,
    styleOf(hex, depth, role === "selection"),
  ]);
  return withModes(Object.fromEntries(styles) as Palette);
}

function withModes(styles: Palette): Theme {
  const modes = PERMISSION_MODES.map((mode) => [mode, styles[mode] ?? styles[MODE_ROLES[mode]]]);
  return { ...styles, ...(Object.fromEntries(modes) as Record<PermissionMode, string>) };
}

/**
 * The palette in an own theme file: roles with colours like `#d7af5f` or "" over those of `base` (default: `dark`). What is
 * wrong is said, and the rest counts.
 */
export function parsePalette(given: unknown): {
  readonly palette: Palette;
  readonly problems: readonly string[];
} {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { palette: DARK, problems: ["not an object of roles and colours"] };
  const { base = "dark", ...roles } = given as Record<string, unknown>;
  const known = Object.hasOwn(PALETTES, String(base)) ? PALETTES[String(base)] : undefined;
  const problems = known === undefined ? [`base: not one of ${Object.keys(PALETTES).join(", ")}`] : [];
  const colours = Object.entries(roles).flatMap(([role, colour]) => {
    if (!PAINTS.some((paint) => paint === role))
      problems.push(`no role ${role}; roles: ${PAINTS.join(", ")}`);
    else if (typeof colour !== "string" || !/^(?:#[0-9a-f]{6})?$/i.test(colour))
      problems.push(`${role}: not a colour like #d7af5f`);
    else return [[role, colour.slice(1)]];
    return [];
  });
  return { palette: { ...(known ?? DARK), ...Object.fromEntries(colours) }, problems };
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
