/**
 * Notes that inform the model when auto or plan mode begins and ends; the text of auto mode is sent in full only once.
 * Derived from the conversation and the mode alone, so a later daemon, a fork and a replay produce the same notes.
 */

const OPEN = "<crux-note>Mode ";
const CLOSE = "</crux-note>";

const AUTO =
  "auto is on: nobody confirms your calls one by one, a model judges those that matter. Go on with sensible assumptions and do not " +
  "interrupt the user for small things. Act rather than plan at length, and expect to be corrected. Destroy nothing: before data or " +
  "production is changed beyond recovery, ask. Send nothing private to where the user has not sent it.";
const AUTO_AGAIN = "auto is on again.";
const AUTO_OVER = "auto has ended: the user is asked again.";
const PLAN_OVER = "plan has ended.";

/** An agent that works for another has no plan to hand in: its last message is its result. */
const PLAN_OF_CHILD =
  "plan is on: look and think, and change nothing; what you find is for your last message.";

const planText = (path: string): string =>
  `plan is on: look and think, and change nothing but your plan, your task lists and your scratch folder. Write the plan to ${path}. ` +
  "When it is complete call plan_exit (by tool_call, if it is not among your tools); the user reads it there. Questions go by ask_user.";

type Told = "" | "auto" | "plan";

export class ModeNotes {
  #told: Told = "";
  #hasHeardOfAuto = false;

  /** Restores the state from the notes in the conversation. */
  recall(messages: readonly { readonly role: string; readonly content: string }[]): void {
    for (const { role, content } of messages)
      if (role === "user" && content.startsWith(OPEN)) this.#heard(content);
  }

  /** The note to add for `standing` (see `Sys.standing`); "": nothing has changed. */
  note(standing: string): string {
    const [word = "", ...rest] = standing.split(" ");
    const now: Told = word === "auto" || word === "plan" ? word : "";
    if (now === this.#told) return "";
    const over = this.#told === "plan" ? PLAN_OVER : now === "" ? AUTO_OVER : "";
    const begun =
      now === "plan"
        ? rest.length === 0
          ? PLAN_OF_CHILD
          : planText(rest.join(" "))
        : now === "auto"
          ? this.#autoText()
          : "";
    const text = [over, begun].filter((part) => part !== "").join(" Mode ");
    const note = `${OPEN}${text}${CLOSE}`;
    this.#heard(note);
    return note;
  }

  #autoText(): string {
    return this.#hasHeardOfAuto ? AUTO_AGAIN : AUTO;
  }

  #heard(note: string): void {
    if (note.includes("Mode auto is on")) this.#hasHeardOfAuto = true;
    const newest = /.*Mode (auto|plan) (is on|has ended)/s.exec(note);
    if (newest === null) return;
    this.#told = newest[2] === "is on" ? (newest[1] as Told) : "";
  }
}
