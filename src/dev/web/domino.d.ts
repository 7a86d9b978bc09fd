/** The package's own types are no module. Only what is needed of it. */
declare module "@mixmark-io/domino" {
  interface HtmlNode {
    readonly textContent: string | null;
    getAttribute(name: string): string | null;
    querySelector(selector: string): HtmlNode | null;
    querySelectorAll(selector: string): Iterable<HtmlNode>;
  }
  const domino: { createDocument(html: string): HtmlNode };
  export default domino;
  export type { HtmlNode };
}
