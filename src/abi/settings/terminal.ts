/** The keys of settings.json on what the terminal shows. */
import * as z from "zod";

export const UiSettings = z
  .looseObject({
    calls: z
      .boolean()
      .optional()
      .describe("False: a terminal does not show tool calls, nor what the model says beside them."),
    theme: z
      .string()
      .max(64)
      .optional()
      .describe(
        "Colours of the interactive terminal: `auto` (by its background), `dark`, `light`, `high-contrast`, `dark-daltonized`, `light-daltonized`, `ansi`, or a theme of yours.",
      ),
    notify: z
      .enum(["auto", "desktop", "off"])
      .optional()
      .describe(
        "auto: a question or an answer that comes while you look elsewhere rings, or shows a notice where the terminal has them; desktop: `notify-send` shows it.",
      ),
    reduceMotion: z
      .boolean()
      .optional()
      .describe("True: nothing in the interactive terminal moves while it waits."),
    accessible: z
      .boolean()
      .optional()
      .describe(
        "True: a conversation is lines, without boxes and redrawing, as with `CRUX_ACCESSIBLE=1`. Read from your own settings only.",
      ),
    language: z
      .enum(["auto", "en", "zh"])
      .optional()
      .describe("Language of the interactive terminal; auto: that of the environment."),
    screen: z
      .enum(["inline", "full"])
      .optional()
      .describe(
        "inline: what was said goes into the scrollback of the terminal; full: the conversation has the whole screen and leaves nothing behind. Read from your own settings only.",
      ),
    vim: z.boolean().optional().describe("True: the editor of the interactive terminal has the keys of vi."),
  })
  .optional();

/** A program of the user whose output stands below the mode line. */
export const StatusLineSettings = z
  .looseObject({
    type: z.literal("command").optional().describe("The only kind there is."),
    command: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe(
        "A line for your shell: it reads what the session is on stdin, as JSON, and what it prints stands below the mode line of the terminal.",
      ),
    padding: z.int().min(0).max(40).optional().describe("Blank columns before that line."),
    refreshInterval: z
      .number()
      .max(86_400)
      .optional()
      .describe("Run the command also every so many seconds, at least 1; 0: only when something changes."),
  })
  .optional();
