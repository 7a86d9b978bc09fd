/** The script of the tour's model driver: it provides only the model's words; the calls are real. */

const write = (file_path: string, content: string) => ({ tool: "write", args: { file_path, content } });
const turn = (user: string, at: number, play: object) => ({
  when: { user, turn: at },
  forever: true,
  ...play,
});
/** Slow enough for a kill to arrive in the middle. */
const slowly = { pace: { chunk: 1, delayMs: 120 } };

export const SCENARIO = JSON.stringify({
  scenario: "demo",
  turns: [
    turn("greet", 1, {
      say: "A file with a greeting.",
      call: [write("hello.txt", "Hello from process one.\n")],
    }),
    {
      when: { user: "greet", result: { error: true } },
      forever: true,
      say: "The gate refused it: nothing was written.",
    },
    turn("greet", 2, { say: "hello.txt is written." }),
    turn("chapters", 1, { say: "The first chapter.", call: [write("one.txt", "Chapter one\n")] }),
    turn("chapters", 2, {
      say: "Thinking slowly about the second chapter.",
      ...slowly,
      call: [write("two.txt", "Chapter two\n")],
    }),
    turn("chapters", 3, { say: "Two chapters are written." }),
    turn("name three rivers", 1, { say: "Nile\nRhine\nAmazon" }),
    turn("sort them", 1, { say: "Amazon\nNile\nRhine" }),
    turn("make one line", 1, { say: "Amazon, Nile, Rhine" }),
  ],
});
