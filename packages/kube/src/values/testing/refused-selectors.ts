/** Texts that are no label selectors; tests ask both us and the API server. */
export const refusedSelectors = [
  ...["app=web,", "=", "a b", "app in ()x", "a/b/c", "A_B/c", "app=we b", "cpu>x", "app=-x", "(", "app in (a"],
];
