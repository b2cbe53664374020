import { invalidField } from "../domain/errors.js";

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 1_000;

/** The number of the first page. The Utilities API does not say where its pages start; everything counts from here. */
const FIRST_PAGE = 0;

/** Maximum number of elements on a page, for the size that a request asks for. */
export const pageSize = (requested = DEFAULT_PAGE_SIZE): number => Math.min(requested, MAX_PAGE_SIZE);

/** A numbered page of a list: the elements from `start` up to, not including, `end`. Both may be past the list. */
export interface PageRange {
  readonly page: number;
  /** Maximum number of elements. */
  readonly size: number;
  readonly start: number;
  readonly end: number;
}

/** The range of a page by its number; the first page without one. Throws "invalid" for a number before the first. */
export function pageRange(page = FIRST_PAGE, requestedSize?: number): PageRange {
  if (page < FIRST_PAGE) throw invalidField("page", `must be at least ${FIRST_PAGE}, but is ${page}`);
  const size = pageSize(requestedSize);
  const start = (page - FIRST_PAGE) * size;
  return { page, size, start, end: start + size };
}
