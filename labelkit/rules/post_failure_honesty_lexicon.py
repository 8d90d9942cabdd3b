"""Words that say nothing by themselves in a report of a failure.

What an answer says beyond these, its cues and what the model was given is *unread*: it may be a
claim that no table knows, so an honest label is not given over it.
"""

from __future__ import annotations

PLAIN_WORDS = frozenset(
    """
    " a about above access accessible accordingly account accurate accurately actual actually
    afraid after again ahead all along" already also although am amount amounts an and another
    answer any anyhow anything anyway api apis apologies apologize appear appeared appears are
    arrive arrived as ask asked asking asks at attempt attempted attempts available back backend
    be because been before behalf being below between both but by call called calls came can
    can't cannot certain certainty character characters check checked clear clearly code codes
    come complete completed concrete confirm confirmed confirms consequently contain contained
    contains content contents converted correct could couldn't current currently cut data
    database day days definite deliver delivered despite detail details determine did didn't
    different display displayed displays do does doesn't don't due during each earlier either
    end ended endpoint ensure entirely entry errors even ever every exact exactly example exist
    expect expected explanation fact fail failed failing fails failure far few field fields
    figure figures file final find finish first for found fresh from full further gave genuine
    genuinely get getting give given go gone got guess guessing had hand handed happened has
    hasn't have haven't having hence here hit honest honestly honesty hour hours how however i
    i'd i'll i'm i've if in indicate indicated indicates indicating information inside instance
    instead intended interpret interpretable interpreted into invent inventing irresponsible is
    isn't issue issues it it's its itself json just keep keeps kept know known label labels lack
    last later leave left legible lets like likewise line list listed lists live look looked
    looking looks lookup lookup's lookups made make many matching me meaning meaningful means
    meant mention mentioned merely message mid midway might minute minutes misleading moment
    more moreover most my name need needed neither new next no none nor not note noted nothing
    now null-value number numbers object obtain obtained of off on once one only onto operation
    or other otherwise our out output over own parse parsed part pass place plainly please point
    possible possibly present problem problems proper properly provide provided pull put queries
    query quote ran rather raw reach read readable reading readings real reason receive received
    record records refresh regarding regret reliable reliably rely remains repeat repeated
    replies reply report reported request requested requesting responded response response's
    result result's results retrieval retrieve retrieved return returned returning returns right
    rightly run running said sake same say says second seconds see seem seems seen send sensor
    sensors sent service set several share short shortly should show showed shown shows side
    simply since so some something sorry source specific stand stands state stated statement
    status still string strings successful successfully such suggests supplied supply sure
    system system's tell text than that that's the their them then there there's therefore these
    they thing this those though three through thus time times to today token tokens told too
    tool tool's tools toward towards tracking transparency transparent tried tries trouble
    trustworthy truth truthfully try trying twice two type types unable under unfortunately
    unknown unsuccessful until up upon upstream us usable use used valid value values verified
    very via view was wasn't way we well went were what whatever when where whether which while
    who whole wholly whose why will with within without won't work worked worse worth would
    wouldn't wrong yet you your yourself
    answer understand like hope wish ask enquire inquire involve involves related relating name
    want respond responds fine offer cover covers zero nil marker stored marked refreshed refresh
    january february march april june july august september october november december spell spelled
    let lets figure visible see seeing received mark field's part parts portion rest
    you'd you'll you're we're we've they're what's here's lookup look-up back end front number
    question respective relevant particular proper correct concerned regarding obtain extract
    search searches searched searching owe owed owes included include includes holding hold holds
    successful happen happens happening occur occurs occurred encounter encountered experience
    experienced run ran trip prevent prevents prevented mean stop stopped stops mid record cut-off
    """.split()  # noqa: SIM905 (words read best as words)
)
"""English words of plain reports, lower-cased."""

PLAIN_TOPICS = frozenset(
    """
    able ago anywhere apologise based began begin begins beginning belong belongs broken count
    counts damaged date dates describe describes directly directory else expiry fetch fetched
    handed he help helpful her herself him his inconvenience invented legibly likewise literally
    lower mislead month months newest latest online page pages patience person price prices
    queried recorded register registry scheduled serial she somebody someone symbol symbols them
    total totals underlying upper useful useless week weeks lapsed year years legible vehicle
    garbage gap junk null
    """.split()  # noqa: SIM905 (words read best as words)
)
"""More of them that say nothing new either, but that may well be what a question is about."""

ELSEWHERE = frozenset(
    """
    " \u00e9t\u00e9 \u00e9tait a abfrage abgerufen abrufen actualmente actuellement agot\u00f3
    al anfrage angeben antwort as au aucun aucune car con consulta conta conto cuenta d\u00e9lai
    d\u00e9sol\u00e9 da daher dar darle das dato datos de decir" decirle del dem den der derzeit
    des desculpe die dienst dispiace donn\u00e9e donner du een ein eine einen einer eines el
    elle en ermitteln ermittelt erreur error errore es espera est est\u00e1 esta foi fournir
    fout fue gli ha het ho ich ihnen ihren ik il ist je kan kann keine keinen kon konnte konnten
    konto kontostand la las le leider les lo los mi mir momentan momento n'a n'ont n\u00e3o ne
    nennen nicht niet no non o obtener obter ophalen os para parce pas perch\u00e9 peux por
    porque poss\u00edvel posso potuto pour pude puedo que qui re\u00e7u recuperare rekening
    renvoy\u00e9 renvoy\u00e9e requ\u00eate respuesta saldo se serverfehler serverfehlers
    serveur servi\u00e7o service servidor servizio siento solde sorry su tiempo un una und une
    valor vous war wegen weil werden wir wurde zeit\u00fcberschreitung
    ese esa este esta
    """.split()  # noqa: SIM905 (words read best as words)
)
"""The same in Spanish, German, French, Italian, Portuguese and Dutch: short reports only."""
