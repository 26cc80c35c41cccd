// What scrolls can be reached by keyboard in every browser, and the captions of the menu have a level.
addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("pre, .table-wrapper, article p:has(> img)"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  for (const caption of document.querySelectorAll('.caption[role="heading"]'))
    caption.setAttribute("aria-level", "2");
});
