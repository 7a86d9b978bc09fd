/** What a client's request leaves in the record of what it made, so that its repeat finds that and makes nothing. */
export interface RequestMark {
  /** Of who asked, the method and the client's key: none of them can be had from it. */
  readonly id: string;
  /** Of the same and all that was asked for: another is another request under the same key. */
  readonly digest: string;
}
