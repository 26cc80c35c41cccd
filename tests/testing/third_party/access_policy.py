"""An access policy: everybody may submit, but not users who are suspended."""

from negotiator.plugin import Access, AccessDecision, AccessKind, hookimpl

SUSPENDED = {"mallory"}


@hookimpl
def negotiator_access(questions):
    for question in questions:
        if question.user in SUSPENDED:
            yield Access(AccessDecision.FORBID, "suspended", f"{question.user} is suspended")
        elif question.act is AccessKind.SUBMIT:
            yield Access(AccessDecision.GRANT, "everybody", "everybody may submit")
        else:
            yield Access(AccessDecision.ABSTAIN, "everybody", "only submitting is open to everybody")
