/** One value of this tab: two tabs are two players. @param {string} key */
export function tabValue(key) {
  return {
    load: () => JSON.parse(sessionStorage.getItem(`emberline.${key}`) ?? "null"),
    /** @param {unknown} value */
    save: (value) => sessionStorage.setItem(`emberline.${key}`, JSON.stringify(value)),
  };
}
