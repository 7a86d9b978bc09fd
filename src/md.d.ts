/** A text that the model reads, kept beside the code that sends it; the build and vitest import it as a string. */
declare module "*.md" {
  const text: string;
  export default text;
}
